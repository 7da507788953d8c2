package auditlog

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxFiles is how many rotated files are read, the latest ones.
const maxFiles = 1000

// Files returns the files of the log at path, oldest first: those that programs such as logrotate
// have made of it (audit.jsonl.1, audit.jsonl.2.gz, audit.jsonl-20261123), by the time of their
// last change, and then the log itself. A log that does not exist is an error unless there are
// rotated files.
func Files(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	type file struct {
		path    string
		changed time.Time
	}
	var rotated []*file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !isRotated(filepath.Base(path), e.Name()) {
			continue
		}
		rotated = append(rotated, &file{filepath.Join(filepath.Dir(path), e.Name()), info.ModTime()})
	}
	slices.SortFunc(rotated, func(a, b *file) int {
		return cmp.Or(a.changed.Compare(b.changed), cmp.Compare(b.path, a.path)) // .2 is older than .1
	})
	var files []string
	for _, f := range rotated[max(0, len(rotated)-maxFiles):] {
		files = append(files, f.path)
	}
	if _, err := os.Stat(path); err == nil || len(files) == 0 {
		return append(files, path), err
	}
	return files, nil
}

// isRotated reports whether a file has the name of a log, a point or hyphen, and a number or date,
// and perhaps ".gz".
func isRotated(log, name string) bool {
	rest, ok := strings.CutPrefix(name, log)
	if !ok || rest == "" || rest[0] != '.' && rest[0] != '-' {
		return false
	}
	rest = strings.TrimSuffix(rest[1:], ".gz")
	return rest != "" && strings.Trim(rest, "0123456789-_.T:Z") == ""
}
