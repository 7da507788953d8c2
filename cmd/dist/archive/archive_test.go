package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var at = time.Unix(1790000000, 0)

// twice writes an archive with the same files in two orders, and returns the path of one of them.
func twice(t *testing.T, write func(f *Files, path string) error) string {
	t.Helper()
	var sums [2][sha256.Size]byte
	path := ""
	for i := range sums {
		var f Files
		names := []string{"d/run", "a"}
		if i == 1 {
			names = []string{"a", "d/run"}
		}
		for _, n := range names {
			f.Add(n, []byte("text of "+n), n == "d/run")
		}
		path = filepath.Join(t.TempDir(), "archive")
		if err := write(&f, path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(data)
	}
	if sums[0] != sums[1] {
		t.Error("two archives of the same files differ")
	}
	return path
}

func TestTar(t *testing.T) {
	path := twice(t, func(f *Files, path string) error { return f.Tar(path, at) })
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		got += fmt.Sprintf("%s %o %s %d %d %d\n", h.Name, h.Mode, h.Uname, h.Uid, h.Size, h.ModTime.Unix())
	}
	if want := "a 644 root 0 9 1790000000\nd/run 755 root 0 13 1790000000\n"; got != want || z.Name != "" || !z.ModTime.IsZero() {
		t.Errorf("%s%+v", got, z.Header)
	}
}

func TestZip(t *testing.T) {
	path := twice(t, func(f *Files, path string) error { return f.Zip(path, at) })
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := ""
	for _, f := range r.File {
		got += fmt.Sprintf("%s %o %d %d\n", f.Name, f.Mode(), f.UncompressedSize64, f.Modified.Unix())
	}
	if want := "a 644 9 1790000000\nd/run 755 13 1790000000\n"; got != want {
		t.Error(got)
	}
}
