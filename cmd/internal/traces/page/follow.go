package page

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
)

const (
	maxLine  = 64 << 10  // bytes of a line that are sent whole
	maxBatch = 128 << 10 // bytes that are read at a time, and about the size of an event
)

// What a follower found in its file.
type state int

const (
	someLines state = iota // there are lines
	atEnd                  // there is nothing more for now
	anew                   // the file begins anew: what was read of it is gone
)

// A follower reads the lines of a file that grows, is replaced, or does not exist yet.
type follower struct {
	path   string
	at     int64 // where the next line begins
	file   *os.File
	size   int64 // of the file when it was last looked at
	endAt  int64 // the line at at has no end before this
	quiet  int   // how often there was nothing new, since the file was last compared with its path
	in     []byte
	joined bool // at was compared with the file
}

// newFollower returns a follower that begins at an offset, where a line begins.
func newFollower(path string, at int64) *follower {
	return &follower{path: path, at: at, in: make([]byte, maxBatch)}
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// next appends the next lines to dst, each with prefix before it and a line end after it.
func (f *follower) next(dst []byte, prefix string) ([]byte, state, error) {
	if f.file == nil {
		if err := f.open(); err != nil || f.file == nil {
			return dst, atEnd, err
		}
	}
	info, err := f.file.Stat()
	if err != nil {
		return dst, atEnd, err
	}
	known := f.size
	f.size = info.Size()
	switch {
	case f.size < f.at || f.size < known || !f.fits():
		return dst, f.again(), nil
	case f.size == known && f.endAt >= f.size, f.at == f.size:
		return dst, f.nothing(info), nil
	}
	f.quiet = 0
	return f.lines(dst, prefix)
}

// open opens the file if it is there.
func (f *follower) open() error {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.file, f.size = file, 0
	return err
}

// fits reports whether a line begins where the first one is to be read. If not, it was another file
// that was read up to there.
func (f *follower) fits() bool {
	if f.joined || f.at == 0 {
		return true
	}
	f.joined = true
	var before [1]byte
	_, err := f.file.ReadAt(before[:], f.at-1)
	return err == nil && before[0] == '\n'
}

// again makes the follower start from the beginning of what is at the path now.
func (f *follower) again() state {
	f.close()
	f.at, f.endAt, f.size = 0, 0, 0
	return anew
}

// compareEvery is how often there is nothing new before the file is compared with the one at its
// path, which may have replaced it.
const compareEvery = 10

func (f *follower) nothing(mine os.FileInfo) state {
	if f.quiet++; f.quiet < compareEvery {
		return atEnd
	}
	f.quiet = 0
	if now, err := os.Stat(f.path); err == nil && !os.SameFile(mine, now) {
		return f.again()
	}
	return atEnd
}

// lines appends the lines that begin at at, as far as they are complete.
func (f *follower) lines(dst []byte, prefix string) ([]byte, state, error) {
	n, err := f.file.ReadAt(f.in, f.at)
	if err != nil && err != io.EOF {
		return dst, atEnd, err
	}
	begun := len(dst)
	for text := f.in[:n]; len(dst)-begun < maxBatch; {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		if len(bytes.TrimSpace(line)) > 0 {
			dst = f.line(dst, prefix, line)
		}
		f.at += int64(len(line)) + 1
		text = rest
	}
	switch {
	case len(dst) > begun:
		return dst, someLines, nil
	case n < len(f.in): // the start of a line, or nothing but empty lines
		f.endAt = f.size
		return dst, atEnd, nil
	}
	return f.long(dst, prefix)
}

// line appends one line. A carriage return, which JSON has only between tokens, would end a line of
// an event.
func (f *follower) line(dst []byte, prefix string, line []byte) []byte {
	dst = append(dst, prefix...)
	from := len(dst)
	if len(line) > maxLine {
		dst = cutLine(dst, bufio.NewReader(bytes.NewReader(line)), f.at)
	} else {
		dst = append(dst, line...)
	}
	for i, c := range dst[from:] {
		if c == '\r' {
			dst[from+i] = ' '
		}
	}
	return append(dst, '\n')
}

// long appends the line at at, which is longer than what is read at a time. It is never in memory
// as a whole.
func (f *follower) long(dst []byte, prefix string) ([]byte, state, error) {
	end, err := lineEnd(f.file, max(f.at, f.endAt))
	if err != nil {
		return dst, atEnd, err
	}
	if end < 0 {
		f.endAt = f.size
		return dst, atEnd, nil
	}
	dst = append(dst, prefix...)
	dst = cutLine(dst, bufio.NewReaderSize(io.NewSectionReader(f.file, f.at, end-f.at), 32<<10), f.at)
	f.at = end + 1
	return append(dst, '\n'), someLines, nil
}

// lineEnd returns the offset of the first line end at or after an offset; -1 if there is none.
func lineEnd(file io.ReaderAt, from int64) (int64, error) {
	in := make([]byte, 64<<10)
	for {
		n, err := file.ReadAt(in, from)
		if i := bytes.IndexByte(in[:n], '\n'); i >= 0 {
			return from + int64(i), nil
		}
		from += int64(n)
		if err == io.EOF {
			return -1, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// offset reads an offset in a file; an empty text is 0.
func offset(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}
