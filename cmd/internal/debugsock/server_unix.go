//go:build linux || darwin

package debugsock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolman/router/breakpoint"
)

// Sockets are named debug-RUN.sock.
const prefix, suffix = "debug-", ".sock"

// A Server accepts connections to a Debugger.
type Server struct {
	// Path is the path of the socket.
	Path     string
	run      string
	debugger *breakpoint.Debugger
	listener *net.UnixListener
	served   sync.WaitGroup

	mu     sync.Mutex
	conns  map[*net.UnixConn]bool // guarded by mu
	closed bool                   // guarded by mu
}

// Listen opens a socket for the run of toolman with this name. It is in $XDG_RUNTIME_DIR/toolman,
// or in the directory state.
func Listen(run, state string, d *breakpoint.Debugger) (*Server, error) {
	dir := state
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) && isOwn(runtime) {
		dir = filepath.Join(runtime, "toolman")
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	removeStale(dir)
	path := filepath.Join(dir, prefix+run+suffix)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if errors.Is(err, syscall.EINVAL) {
		return nil, fmt.Errorf("the path of the socket %s is too long; let XDG_RUNTIME_DIR name a directory with a shorter path", path)
	} else if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	s := &Server{Path: path, run: run, debugger: d, listener: l, conns: map[*net.UnixConn]bool{}}
	s.served.Go(s.accept)
	return s, nil
}

// isOwn reports whether path belongs to this user.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && ownerOf(info) == os.Geteuid()
}

// ownerOf returns the user that a file belongs to; -1 if it is not known.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// private makes a directory that no other user may use.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || ownerOf(info) != os.Geteuid():
		return fmt.Errorf("%s is not a directory of this user", dir)
	}
	return os.Chmod(dir, 0o700)
}

// removeStale removes the sockets of programs that were killed.
func removeStale(dir string) {
	paths, _ := filepath.Glob(filepath.Join(dir, prefix+"*"+suffix)) // the pattern is valid
	for _, path := range paths {
		conn, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path)
		}
	}
}

// Close ends all connections and removes the socket.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.listener.Close()
	s.served.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil { // such as too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if s.admit(conn) {
			s.served.Go(func() { s.serve(conn) })
		} else {
			conn.Close()
		}
	}
}

// admit reports whether a connection is of this user, and there is room for it.
func (s *Server) admit(conn *net.UnixConn) bool {
	if uid, err := peerUID(conn); err != nil || uid != os.Geteuid() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxConn {
		return false
	}
	s.conns[conn] = true
	return true
}

// serve executes the commands of a connection until it ends.
func (s *Server) serve(conn *net.UnixConn) {
	out := newOutput(conn)
	out.put(Hello{Event: "hello", V: 1, Run: s.run, PID: os.Getpid()})
	client := s.debugger.Open(func(e breakpoint.Event) { out.put(e) })
	err := lines(conn, maxLine, func(line []byte) { out.put(execute(client, line)) })
	client.Close()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		out.put(Reply{Event: "refused", Text: "the connection ends: " + err.Error()})
	}
	out.close()
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// An output writes events to a connection without making those that report them wait. If too much
// waits, it ends the connection.
type output struct {
	conn *net.UnixConn
	done chan struct{} // closed when run has returned

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte // guarded by mu
	closed  bool   // guarded by mu
}

func newOutput(conn *net.UnixConn) *output {
	o := &output{conn: conn, done: make(chan struct{})}
	o.more.L = &o.mu
	go o.run()
	return o
}

// put queues a line.
func (o *output) put(event any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a message is shown and edited as it is
	if enc.Encode(event) != nil {
		return // impossible: what is no JSON is refused before
	}
	line := text.Bytes()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.waiting)+len(line) > maxWait {
		o.closed, o.waiting = true, nil
		o.conn.Close()
	} else {
		o.waiting = append(o.waiting, line...)
	}
	o.more.Signal()
}

// lastEvents is how long the last events may take.
const lastEvents = time.Second

// close writes what waits and returns.
func (o *output) close() {
	o.mu.Lock()
	o.closed = true
	o.conn.SetWriteDeadline(time.Now().Add(lastEvents))
	o.more.Signal()
	o.mu.Unlock()
	<-o.done
}

func (o *output) run() {
	defer close(o.done)
	var spare []byte
	for {
		o.mu.Lock()
		for len(o.waiting) == 0 && !o.closed {
			o.more.Wait()
		}
		text := o.waiting
		o.waiting = spare[:0]
		o.mu.Unlock()
		if len(text) == 0 {
			return
		}
		if _, err := o.conn.Write(text); err != nil {
			o.conn.Close()
			return
		}
		if spare = text; cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// Check reports why a path, such as one that a trace names, is not a socket of this user's toolman.
func Check(path string) error {
	base, dir := filepath.Base(path), filepath.Dir(path)
	if !filepath.IsAbs(path) || !strings.HasPrefix(base, prefix) || !strings.HasSuffix(base, suffix) || filepath.Base(dir) != "toolman" {
		return fmt.Errorf("%s is not the path of a socket of toolman --debug", path)
	}
	folder, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sock, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !folder.IsDir() || folder.Mode().Perm() != 0o700 || ownerOf(folder) != os.Geteuid() ||
		sock.Mode().Type() != fs.ModeSocket || ownerOf(sock) != os.Geteuid() {
		return fmt.Errorf("%s is not a private socket of this user", path)
	}
	return nil
}

// Dial connects to the socket of a run that was started by the same user.
func Dial(path string) (*Conn, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		return nil, err
	}
	if uid, err := peerUID(conn); err != nil || uid != os.Geteuid() {
		conn.Close()
		return nil, fmt.Errorf("another user listens on %s", path)
	}
	return &Conn{conn}, nil
}
