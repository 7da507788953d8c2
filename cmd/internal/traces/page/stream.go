package page

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"toolman/jsonrpc/trace"
)

const (
	poll = 50 * time.Millisecond // how often a file is looked at
	ping = 15 * time.Second      // how often a page without new lines gets a sign of life
)

// serveEvents sends the lines of a file as server-sent events, until the page or the server ends.
func (s *server) serveEvents(w http.ResponseWriter, r *http.Request) {
	f, found := s.file(w, r, "file")
	if !found {
		return
	}
	from, ok := begin(r)
	if !ok {
		http.Error(w, "toolman: from is the offset of a line in the file", http.StatusBadRequest)
		return
	}
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		http.Error(w, "toolman: "+strconv.Itoa(maxStreams)+" streams are open: close some pages", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)
	in := newFollower(f.path, from)
	defer in.close()
	out := stream{in: in, w: w, flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", "text/event-stream")
	out.send([]byte("retry: 500\n\n")) // milliseconds until the page connects again
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		case <-next.C:
		}
		more, err := out.step()
		if err != nil {
			return
		}
		wait := poll
		if more {
			wait = 0
		}
		next.Reset(wait)
	}
}

// begin returns where a stream begins: behind the last event that the page got, or where it says.
func begin(r *http.Request) (int64, bool) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		return offset(last)
	}
	return offset(r.URL.Query().Get("from"))
}

// A stream sends what a follower finds.
type stream struct {
	in    *follower
	w     http.ResponseWriter
	flush func() error
	buf   []byte
	sent  time.Time // when something was sent last
	live  bool      // the end of the file was reached
	err   error
}

// step sends what there is now, at most one event, and reports whether there may be more.
func (s *stream) step() (more bool, err error) {
	const prefix = "data: "
	body, state, err := s.in.next(s.buf[:0], prefix)
	s.buf = body
	switch {
	case err != nil:
		s.event("failed", err.Error())
		return false, err
	case state == anew:
		s.live = false
		s.event("reset", "0")
		return true, s.err
	case state == someLines:
		s.send(append(append(body, "id: "+s.at()+"\n"...), '\n'))
		return true, s.err
	case !s.live:
		s.live = true
		s.event("live", s.at())
	case time.Since(s.sent) >= ping:
		s.comment("ping")
	}
	return false, s.err
}

func (s *stream) at() string { return strconv.FormatInt(s.in.at, 10) }

func (s *stream) event(name, data string) {
	s.send([]byte("event: " + name + "\nid: " + s.at() + "\ndata: " + data + "\n\n"))
}

func (s *stream) comment(text string) { s.send([]byte(": " + text + "\n\n")) }

// send writes text and waits until the connection has taken it.
func (s *stream) send(text []byte) {
	if s.err != nil {
		return
	}
	hasToTake(s.w)
	if _, s.err = s.w.Write(text); s.err == nil {
		s.err = s.flush()
	}
	s.sent = time.Now()
}

// serveLine sends a whole line of a file.
func (s *server) serveLine(w http.ResponseWriter, r *http.Request) {
	f, found := s.file(w, r, "file")
	if !found {
		return
	}
	at, ok := offset(r.URL.Query().Get("at"))
	if !ok {
		http.Error(w, "toolman: at is the offset of a line in the file", http.StatusBadRequest)
		return
	}
	line, size, done, err := lineAt(f.path, at)
	if err != nil {
		code := http.StatusNotFound
		if errors.Is(err, errTooLong) {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "toolman: "+err.Error(), code)
		return
	}
	defer done()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	out := bufio.NewWriterSize(takenInTime{w}, 64<<10)
	if _, err := io.Copy(out, line); err == nil {
		out.Flush()
	}
}

// takenInTime gives each write its own time to be taken.
type takenInTime struct{ http.ResponseWriter }

func (w takenInTime) Write(b []byte) (int, error) {
	hasToTake(w.ResponseWriter)
	return w.ResponseWriter.Write(b)
}

var (
	errNoLine  = errors.New("no line of the file begins there")
	errTooLong = errors.New("the line is too long to be shown")
)

// lineAt returns the line of a file that begins at an offset, and its size. The caller has to call
// done.
func lineAt(path string, at int64) (line io.Reader, size int64, done func() error, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil, errNoLine
	}
	if err != nil {
		return nil, 0, nil, err
	}
	f := follower{file: file, at: at}
	end := int64(-1)
	if f.fits() {
		end, err = lineEnd(file, at)
	}
	switch {
	case err != nil:
	case end < 0:
		err = errNoLine
	case end-at > trace.MaxLine:
		err = errTooLong
	default:
		return io.NewSectionReader(file, at, end-at), end - at, file.Close, nil
	}
	file.Close()
	return nil, 0, nil, err
}

// sizeOf returns the size of a file; 0 if it cannot be told.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
