package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Trace is a file in Dir.
type Trace struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	What    string    `json:"what"`           // the server of a tap, or the configuration
	Size    int64     `json:"size"`           // in bytes
	Calls   *int      `json:"calls"`          // requests of the client; nil if the file is too large to count
	Live    bool      `json:"live,omitempty"` // it is still being written
	File    string    `json:"file"`

	changed time.Time
}

// Name returns the name of the file.
func (t *Trace) Name() string { return filepath.Base(t.File) }

// List returns the traces in Dir, the oldest first, without their calls.
func List() ([]Trace, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir) // sorted by name, and so by time
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Trace
	for _, e := range entries {
		t, ok := parse(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // just removed
		}
		t.File, t.Size, t.changed = filepath.Join(dir, e.Name()), info.Size(), info.ModTime()
		all = append(all, t)
	}
	return all, nil
}

// parse reads the name of a trace's file.
func parse(name string) (t Trace, ok bool) {
	base, ok := strings.CutSuffix(name, suffix)
	if !ok || len(base) < len(nameTime)+2 {
		return t, false
	}
	at, err := time.Parse(nameTime, base[:len(nameTime)])
	rest := base[len(nameTime):]
	if err != nil || rest[0] != '-' {
		return t, false
	}
	t.Started = at
	t.Run, t.What, ok = strings.Cut(rest[1:], "-")
	return t, ok
}

// Examine adds to a trace what is known from the file itself: whether it is still being written,
// and its calls.
func (t *Trace) Examine() {
	f, err := os.Open(t.File)
	if err != nil {
		return
	}
	defer f.Close()
	t.Live = isLocked(f)
	if t.Size <= mostCounted {
		n := countCalls(f)
		t.Calls = &n
	}
}

// mostCounted is the size of the largest file whose calls are counted, which takes milliseconds.
const mostCounted = 8 << 20

// countCalls counts the requests of clients in a trace. It reads only the start of each line: the
// fields before "msg" have no text that looks like another field, because its quotes are escaped.
func countCalls(r io.Reader) (n int) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		head, _, _ := bytes.Cut(line, []byte(`,"msg":`))
		if bytes.Contains(head, []byte(`,"leg":"client"`)) && bytes.Contains(head, []byte(`,"dir":"in","kind":"request"`)) {
			n++
		}
		for err == bufio.ErrBufferFull {
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return n
		}
	}
}

// A Limit says which traces Prune keeps. A trace is removed if it is none of the newest Keep and
// its last line is older than Older.
type Limit struct {
	Keep  int
	Older time.Duration
}

// Prune returns the traces that were removed, or with dry would be, the oldest first, and those
// that it would have removed if they were not still being written.
func Prune(l Limit, dry bool) (removed, live []Trace, err error) {
	all, err := List()
	if err != nil {
		return nil, nil, err
	}
	all = all[:max(0, len(all)-l.Keep)]
	all = slices.DeleteFunc(all, func(t Trace) bool { return time.Since(t.changed) < l.Older })
	for _, t := range all {
		switch gone, err := t.remove(dry); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return removed, live, err
		case gone:
			removed = append(removed, t)
		default:
			live = append(live, t)
		}
	}
	return removed, live, nil
}

// remove removes a trace that no program writes, and reports whether it did.
func (t *Trace) remove(dry bool) (bool, error) {
	f, err := os.Open(t.File)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if isLocked(f) {
		return false, nil
	}
	if dry {
		return true, nil
	}
	return true, remove(f)
}
