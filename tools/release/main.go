// Command release writes the archive of a release: the Lambdas, the upload server, the CDK app, and the files that
// name the CDK and the default configuration. A deployment from the archive needs no compiler.
// The same commit gives the same bytes. Run from the project's folder; `make release` does.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"lectern/functions"
)

// Modes of files in the archive, whatever the builder's umask. Lambda starts a binary as another
// user than the owner.
const (
	program  = 0o755
	document = 0o644
)

// uploads is the folder of the image of the upload service (infra/uploads).
const uploads = "uploads"

func main() {
	var r release
	var seconds int64
	flag.StringVar(&r.version, "version", "", "name of the release")
	flag.StringVar(&r.arch, "arch", "arm64", "processor of the Lambdas, as GOARCH")
	flag.StringVar(&r.out, "out", "releases", "folder for the archive")
	flag.Int64Var(&seconds, "time", 0, "time of the release's commit, in Unix seconds")
	flag.Parse()
	r.root, r.at = ".", time.Unix(seconds, 0).UTC()
	name, err := r.write()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, name)
}

// release describes an archive.
type release struct {
	// root is the project's folder, out the folder for the archive.
	root, out string
	// version names the release, arch is the processor of the Lambdas.
	version, arch string
	// at is the time of every file in the archive.
	at time.Time
}

// versions matches the name of a release, which becomes part of file names.
var versions = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]*$`)

// file is a file of the archive, by its path in the project.
type file struct {
	name string
	mode int64
	text []byte
}

// write writes the archive and a file with its checksum, and returns the archive's name.
func (r release) write() (string, error) {
	if !versions.MatchString(r.version) {
		return "", fmt.Errorf("the version %q is no name: say make release VERSION=1.0", r.version)
	}
	files, err := r.files()
	if err != nil {
		return "", err
	}
	// The app runs on the machine that deploys, the Lambdas on AWS.
	folder := "lectern-" + r.version
	name := fmt.Sprintf("%s-lambda-%s-app-%s-%s.tar.gz", folder, r.arch, runtime.GOOS, runtime.GOARCH)
	if err := os.MkdirAll(r.out, 0o750); err != nil {
		return "", err
	}
	target := filepath.Join(r.out, name)
	sum, err := r.save(target, folder, files)
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("%x  %s\n", sum, name)
	return target, os.WriteFile(target+".sha256", []byte(line), document)
}

// save writes the archive and returns its checksum. The file has another name until it is whole.
func (r release) save(name, folder string, files []file) ([]byte, error) {
	f, err := os.CreateTemp(r.out, ".release-")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if err := errors.Join(r.pack(io.MultiWriter(f, sum), folder, files), f.Chmod(document), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	return sum.Sum(nil), os.Rename(f.Name(), name)
}

// files reads the files of the release, in the order of the archive. The first has the checksums
// of the others.
func (r release) files() ([]file, error) {
	files := []file{
		{"LICENSE", document, nil}, {"bin/infra", program, nil}, {"cdk.json", document, nil},
		{"infra/package-lock.json", document, nil}, {"infra/package.json", document, nil},
	}
	dist := path.Join("dist", "linux-"+r.arch)
	for _, name := range append(functions.Names(), uploads) {
		files = append(files, file{path.Join(dist, name, "bootstrap"), program, nil})
	}
	files = append(files, file{path.Join(dist, uploads, "Dockerfile"), document, nil})
	var sums bytes.Buffer
	var missing error
	for i := range files {
		text, err := os.ReadFile(filepath.Join(r.root, files[i].name))
		missing = errors.Join(missing, err)
		files[i].text = text
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), files[i].name)
	}
	return append([]file{{"SHA256SUMS", document, sums.Bytes()}}, files...), missing
}

// pack writes the files as a compressed archive, all below a folder.
func (r release) pack(w io.Writer, folder string, files []file) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.text)),
			ModTime: r.at, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}
