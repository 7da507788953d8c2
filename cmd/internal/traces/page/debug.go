package page

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"toolman/cmd/internal/debugsock"
	"toolman/jsonrpc/trace"
)

const maxCommand = 16 << 20 // bytes of a command, which may hold a message

// The debuggers of a server are its connections to running toolmans.
type debuggers struct {
	mu  sync.Mutex
	all map[string]*debugsock.Conn // guarded by mu: by the ID of the stream
}

func (d *debuggers) add(id string, conn *debugsock.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string]*debugsock.Conn{}
	}
	d.all[id] = conn
}

func (d *debuggers) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, id)
}

func (d *debuggers) find(id string) *debugsock.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, conn := range d.all {
		if subtle.ConstantTimeCompare([]byte(id), []byte(other)) == 1 {
			return conn
		}
	}
	return nil
}

// serveDebug connects the page to the toolman that writes a file, and sends the events of its
// debugger. When the stream ends, the connection does, and toolman lets all messages go on.
func (s *server) serveDebug(w http.ResponseWriter, r *http.Request) {
	f, found := s.file(w, r, "file")
	if !found {
		return
	}
	path, err := socketOf(f.path, r.URL.Query().Get("run"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		http.Error(w, strconv.Itoa(maxStreams)+" streams are open: close some pages", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)
	conn, err := debugsock.Dial(path)
	if err != nil {
		http.Error(w, "the toolman that wrote this trace cannot be reached; it may have ended ("+err.Error()+")", http.StatusConflict)
		return
	}
	defer conn.Close()
	id := newToken()
	s.debuggers.add(id, conn)
	defer s.debuggers.remove(id)
	w.Header().Set("Content-Type", "text/event-stream")
	out := &debugStream{w: w, flush: http.NewResponseController(w).Flush}
	out.send("event: stream\ndata: " + id + "\n\n")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn.Events(func(line []byte) {
			if out.send("data: "+string(line)+"\n\n") != nil {
				conn.Close()
			}
		})
	}()
	tick := time.NewTicker(ping)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			out.send(": ping\n\n")
			continue
		case <-ended:
			out.send("event: ended\ndata: toolman has ended\n\n")
			return
		case <-r.Context().Done():
		case <-s.ended:
		}
		conn.Close()
		<-ended // it may be writing
		return
	}
}

// A debugStream writes events from two goroutines.
type debugStream struct {
	mu    sync.Mutex
	w     http.ResponseWriter // guarded by mu
	flush func() error
	err   error // guarded by mu
}

func (o *debugStream) send(event string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	hasToTake(o.w)
	if _, o.err = io.WriteString(o.w, event); o.err == nil {
		o.err = o.flush()
	}
	return o.err
}

// serveCommand passes a command of the page on.
func (s *server) serveCommand(w http.ResponseWriter, r *http.Request) {
	conn := s.debuggers.find(r.URL.Query().Get("stream"))
	if conn == nil {
		http.Error(w, "the connection to toolman has ended", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCommand))
	if err != nil {
		http.Error(w, "the command is not complete, or too long", http.StatusBadRequest)
		return
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		http.Error(w, "the command is not JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := conn.Send(line.Bytes()); err != nil {
		http.Error(w, "the connection to toolman has ended", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// maxSession is the longest line that describes a run.
const maxSession = 1 << 20

// sessionStart is how the line of a run begins.
var sessionStart = []byte(`{"v":1,"seq":0,"t":"session",`)

var errNoSocket = errors.New("the toolman that wrote this trace was started without --debug; start it with --debug to stop messages")

// socketOf returns the socket of a run in a trace; "" is the last run that has one.
func socketOf(path, run string) (socket string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the trace cannot be read: %w", err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, maxSession)
	for {
		line, err := in.ReadSlice('\n')
		if err == nil && bytes.HasPrefix(line, sessionStart) {
			var s trace.Session
			if json.Unmarshal(line, &s) == nil && s.Debug != "" && (run == "" || run == s.Run) {
				socket = s.Debug
			}
		}
		for err == bufio.ErrBufferFull { // the rest of a line that is longer than that of a run
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			break
		}
	}
	if socket == "" {
		return "", errNoSocket
	}
	return socket, nil
}
