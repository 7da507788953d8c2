package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// MaxLine is the longest line that Read accepts.
const MaxLine = 64 << 20

// The types of line.
const (
	TypeSession = "session"
	TypeFrame   = "frame"
	TypeEvent   = "event"
)

// A Record is a line of a trace. Its fields depend on Type. Times are in microseconds.
type Record struct {
	Type  string    `json:"t"`
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"ts"`
	US    int64     `json:"us"` // since the start of the run
	Leg   Leg       `json:"leg"`
	Peer  string    `json:"peer"`
	Dir   Dir       `json:"dir"`
	Kind  Kind      `json:"kind"`
	Call  string    `json:"call"` // "c41"
	Bytes int       `json:"bytes"`

	Method  string          `json:"method"`
	Name    string          `json:"name"`
	ID      json.RawMessage `json:"id"`
	Status  string          `json:"status"`
	Code    int             `json:"code"`
	LegUS   int64           `json:"leg_us"`
	TotalUS int64           `json:"total_us"`
	OwnUS   int64           `json:"own_us"`
	Rewrote []string        `json:"rewrote"`
	Verdict string          `json:"verdict"`
	Rule    string          `json:"rule"`

	Trunc    bool            `json:"trunc"`
	Redacted Redacted        `json:"redacted"`
	Msg      json.RawMessage `json:"msg"`  // the frame
	Text     string          `json:"text"` // the frame, if it is not JSON or is cut; the text of an event
	Raw      []byte          `json:"raw"`  // the exact bytes of Text, if they are not UTF-8

	Event string `json:"event"`
	Count uint64 `json:"count"` // of a drop event: lost lines

	// Of an event of --debug.
	Hold   uint64 `json:"hold"`
	Done   string `json:"done"`
	HeldUS int64  `json:"held_us"`

	Session *Session `json:"-"` // of a session line
	Run     string   `json:"-"` // the run of the last session line
	Line    []byte   `json:"-"` // the whole line as read, without its end
}

// Redacted says where a line has placeholders in place of secrets: the paths of the values in the
// line that hold them, such as "msg.params.arguments.token". An empty path is the whole line. It
// has no paths if nothing was removed.
type Redacted []string

// UnmarshalJSON also reads true, as older traces have it: somewhere in the line.
func (r *Redacted) UnmarshalJSON(p []byte) error {
	if json.Unmarshal(p, (*[]string)(r)) == nil {
		return nil
	}
	*r = nil
	if string(p) == "true" {
		*r = Redacted{""}
	}
	return nil
}

// Payload returns the frame as it was on the wire, as far as the trace has it.
func (r *Record) Payload() []byte {
	switch {
	case r.Msg != nil:
		return r.Msg
	case r.Raw != nil:
		return r.Raw
	}
	return []byte(r.Text)
}

// A LineError reports a line that is not a record.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is not a trace record: %v", e.Line, e.Err)
}

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// ErrTorn reports a last line that is not complete. Its writer was stopped, or is still writing it.
var ErrTorn = errors.New("the file ends within it")

var errLong = errors.New("it is too long")

// Read yields the records of a trace in order. For a line that is not a record, it yields a
// *LineError and continues. Any other error is an error of r, and the last. Empty lines, unknown
// fields and unknown types are allowed.
func Read(r io.Reader) iter.Seq2[*Record, error] { return read(r, MaxLine) }

func read(r io.Reader, limit int) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		run := ""
		for n := 1; ; n++ {
			line, err := readLine(in, limit)
			switch {
			case errors.Is(err, errLong):
				if !yield(nil, &LineError{n, err}) {
					return
				}
				continue
			case err != nil && err != io.EOF:
				yield(nil, err)
				return
			}
			if len(bytes.TrimSpace(line)) > 0 {
				rec, failed := parse(line, n, err == io.EOF)
				if failed == nil {
					if rec.Session != nil {
						run = rec.Session.Run
					}
					rec.Run = run
				}
				if !yield(rec, failed) {
					return
				}
			}
			if err == io.EOF {
				return
			}
		}
	}
}

func parse(line []byte, n int, last bool) (*Record, error) {
	rec := &Record{Line: line}
	err := json.Unmarshal(line, rec)
	if err == nil && rec.Type == "" {
		err = errors.New(`it has no "t"`)
	}
	if err == nil && rec.Type == TypeSession {
		rec.Session = new(Session)
		err = json.Unmarshal(line, rec.Session)
	}
	switch {
	case err != nil && last:
		return nil, &LineError{n, ErrTorn}
	case err != nil:
		return nil, &LineError{n, err}
	}
	return rec, nil
}

// readLine reads a line. It skips a line that is too long.
func readLine(in *bufio.Reader, limit int) (line []byte, err error) {
	size := 0
	for {
		piece, err := in.ReadSlice('\n')
		if size += len(piece); size <= limit {
			line = append(line, piece...)
		} else {
			line = nil
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case size > limit && (err == nil || err == io.EOF):
			return nil, errLong
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}
