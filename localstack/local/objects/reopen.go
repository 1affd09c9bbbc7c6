package objects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// joining is the end of the name of a folder whose parts versitygw joins: <upload>.<ETag>-<parts>.inprogress.
const joining = ".inprogress"

// reopenUploads makes the uploads usable again whose parts versitygw was joining when it was killed. For the
// time of a join, versitygw renames the folder of an upload, and nothing names it back after a kill: the
// upload is missing for every call, and neither an abort nor a list finds the parts. No server may run on the
// folder.
func reopenUploads(buckets string) error {
	folders, err := filepath.Glob(filepath.Join(buckets, "*", ".sgwtmp", "multipart", "*", "*"+joining))
	if err != nil {
		return fmt.Errorf("objects: find interrupted uploads: %w", err)
	}
	var failed []error
	for _, folder := range folders {
		if err := reopen(folder); err != nil {
			failed = append(failed, fmt.Errorf("objects: reopen an interrupted upload: %w", err))
		}
	}
	return errors.Join(failed...)
}

// reopen gives the folder of an upload its name again. versitygw removes parts only after the object is there:
// a folder without some of them is removed.
func reopen(folder string) error {
	upload, etag, _ := strings.Cut(strings.TrimSuffix(filepath.Base(folder), joining), ".")
	_, count, _ := strings.Cut(etag, "-")
	joined, err := strconv.Atoi(count)
	if err != nil {
		return nil //nolint:nilerr // another versitygw (EnvBinary) may name folders otherwise
	}
	stored, err := os.ReadDir(folder)
	if err != nil {
		return err //nolint:wrapcheck // the error names the folder
	}
	if len(stored) < joined {
		return os.RemoveAll(folder) //nolint:wrapcheck // the error names the folder
	}
	return os.Rename(folder, filepath.Join(filepath.Dir(folder), upload)) //nolint:wrapcheck // the error names the folder
}
