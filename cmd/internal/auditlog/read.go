package auditlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"toolman/router/audit"
)

// maxLine is the longest line that is read, in bytes. toolman writes lines of up to about 200 KiB.
const maxLine = 1 << 20

// A Summary says what was read.
type Summary struct {
	Lines       int       // within the time
	First, Last time.Time // of these lines; zero if there are none
	Unreadable  int       // lines that are no records
	Dropped     uint64    // lines that toolman could not write, as the others say
}

// Read calls each with every line of the files that is not before since, in the order of the files.
// The line is valid until each returns. The error names the file.
func Read(files []string, since time.Time, each func(*audit.Line)) (Summary, error) {
	var s Summary
	for _, path := range files {
		if err := s.file(path, since, each); err != nil {
			return s, fmt.Errorf("reading the audit log: %w", err)
		}
	}
	return s, nil
}

func (s *Summary) file(path string, since time.Time, each func(*audit.Line)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer unzipped.Close()
		in = unzipped
	}
	if err := s.lines(bufio.NewReaderSize(in, 64<<10), since, each); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (s *Summary) lines(in *bufio.Reader, since time.Time, each func(*audit.Line)) error {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(text) <= maxLine { // the rest of a longer line is skipped
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		s.line(text, since, each)
		if text = text[:0]; err != nil {
			return nil
		}
	}
}

func (s *Summary) line(text []byte, since time.Time, each func(*audit.Line)) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	var l audit.Line
	if len(text) > maxLine || json.Unmarshal(text, &l) != nil || l.Time.IsZero() {
		s.Unreadable++
		return
	}
	if l.Time.Before(since) {
		return
	}
	s.Lines++
	s.Dropped += l.Dropped
	if s.First.IsZero() || l.Time.Before(s.First) {
		s.First = l.Time
	}
	if l.Time.After(s.Last) {
		s.Last = l.Time
	}
	each(&l)
}
