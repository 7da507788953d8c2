package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files are what an archive holds.
type Files struct {
	all []file
}

type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// Add adds a file. It is executable or not; more modes there are not.
func (f *Files) Add(name string, data []byte, executable bool) {
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	f.all = append(f.all, file{name, mode, data})
}

// AddFile adds a file that exists.
func (f *Files) AddFile(name, path string, executable bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f.Add(name, data, executable)
	return nil
}

// AddDir adds the files of a folder, under the name of another.
func (f *Files) AddDir(name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f.AddFile(name+"/"+e.Name(), filepath.Join(dir, e.Name()), false); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) sorted() []file {
	return slices.SortedFunc(slices.Values(f.all), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// Tar writes a tar.gz.
func (f *Files) Tar(path string, at time.Time) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, file := range f.sorted() {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: int64(file.mode), Size: int64(len(file.data)),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(file.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// Zip writes a zip.
func (f *Files) Zip(path string, at time.Time) error {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range f.sorted() {
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(file.mode)
		w, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(file.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// Gzip returns data compressed, without a name or a time.
func Gzip(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(z, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
