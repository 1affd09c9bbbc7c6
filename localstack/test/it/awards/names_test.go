package awards_test

import "lectern/localstack/test/it"

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)
