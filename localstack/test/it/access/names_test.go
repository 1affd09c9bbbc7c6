package access_test

import "lectern/localstack/test/it"

// object is a JSON body.
type object = it.Object
