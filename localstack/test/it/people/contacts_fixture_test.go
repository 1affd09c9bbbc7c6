package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func NewContacts(t *testing.T, features ...string) *it.Contacts {
	t.Helper()
	return &it.Contacts{Client: it.NewClient(t, features...)}
}

// isTakenBy checks the 409 for an address that a contact has.
func isTakenBy(t *testing.T, answer entity, details object) {
	t.Helper()
	it.RequireError(t, answer, "DUPLICATE_EMAIL", "email")
	require.Equal(t, "ConflictError", answer["name"])
	require.Equal(t, it.Merged(object{"field": "email"}, details), answer["details"])
}
