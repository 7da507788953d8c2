package trace

import (
	"io"
	"os"
)

// Open opens the file at path to add a run to it, and makes it, readable by its owner only, if there is none. Runs that write to the
// same file at once do not harm each other's lines. A last line that an earlier run left torn is ended.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if torn(f) {
		if _, err := f.WriteString("\n"); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// torn reports whether f, a regular file, ends within a line.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return (err == nil || err == io.EOF) && last[0] != '\n'
}
