package encode_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/api/encode"
)

func TestGunzipUnpacks(t *testing.T) {
	got, err := encode.Gunzip(encode.Gzip([]byte("text")))
	require.NoError(t, err)
	require.Equal(t, "text", string(got))
	_, err = encode.Gunzip([]byte("text"))
	require.Error(t, err)
}
