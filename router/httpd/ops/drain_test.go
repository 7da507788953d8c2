package ops

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// An endingServer has a handler whose calls last until they are let go, and a stream
// that lasts until it is ended.
type endingServer struct {
	url     string
	calls   atomic.Int32
	streams atomic.Int32
	letGo   chan struct{}
	ended   chan struct{}
	end     context.CancelFunc
	late    time.Duration // how long it takes to count the calls
	cut     int
	err     error
	stopped chan struct{}
}

func (s *endingServer) call(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	defer s.calls.Add(-1)
	select {
	case <-s.letGo:
		io.WriteString(w, "answered")
	case <-r.Context().Done():
	}
}

func (s *endingServer) stream(w http.ResponseWriter, r *http.Request) {
	http.NewResponseController(w).Flush()
	s.streams.Add(1)
	select {
	case <-s.ended:
		io.WriteString(w, "data: bye\n\n")
	case <-r.Context().Done():
	}
}

// count counts the calls.
func (s *endingServer) count() int {
	time.Sleep(s.late)
	return int(s.calls.Load())
}

func startEnding(t *testing.T, wait time.Duration) *endingServer {
	t.Helper()
	s := &endingServer{letGo: make(chan struct{}), ended: make(chan struct{}), stopped: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/call", s.call)
	mux.HandleFunc("/stream", s.stream)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	s.end = cancel
	e := Ending{Wait: wait, Calls: s.count, EndStreams: func() { close(s.ended) }}
	go func() {
		s.cut, s.err = Serve(ctx, &http.Server{Handler: mux}, l, e)
		close(s.stopped)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.stopped
	})
	return s
}

// begin asks for a path and returns the body when all of it is there.
func (s *endingServer) begin(path string) <-chan string {
	got := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		resp, err := client.Get(s.url + path)
		if err != nil {
			got <- "error: " + err.Error()
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			got <- "cut off: " + err.Error()
			return
		}
		got <- string(body)
	}()
	return got
}

func (s *endingServer) refusesConnections() bool {
	conn, err := net.Dial("tcp", s.url[len("http://"):])
	if err == nil {
		conn.Close()
	}
	return err != nil
}

func TestCallsUnderWayAreAnsweredBeforeTheEnd(t *testing.T) {
	s := startEnding(t, time.Minute)
	call := s.begin("/call")
	stream := s.begin("/stream")
	await(t, "both are under way", func() bool { return s.calls.Load() == 1 && s.streams.Load() == 1 })
	s.end()
	await(t, "nobody is let in", s.refusesConnections)
	select {
	case <-s.ended:
		t.Error("streams were ended before the call was answered")
	case <-s.stopped:
		t.Error("the server did not wait for the call")
	case <-time.After(50 * time.Millisecond):
	}
	close(s.letGo)
	if got := <-call; got != "answered" {
		t.Errorf("the call got %q", got)
	}
	if got := <-stream; got != "data: bye\n\n" {
		t.Errorf("the stream got %q", got)
	}
	<-s.stopped
	if s.cut != 0 || s.err != nil {
		t.Errorf("%d calls cut off, %v", s.cut, s.err)
	}
}

func TestCallsThatTakeTooLongAreCutOff(t *testing.T) {
	for _, late := range []time.Duration{0, 2 * lingerTime} { // on a busy machine, too, they are counted before
		s := startEnding(t, 20*time.Millisecond)
		call := s.begin("/call")
		await(t, "the call is under way", func() bool { return s.calls.Load() == 1 })
		s.late = late
		s.end()
		if got := <-call; got == "answered" {
			t.Errorf("got %q", got)
		}
		<-s.stopped
		if s.cut != 1 {
			t.Errorf("%d calls cut off, want 1", s.cut)
		}
	}
}

func TestStreamsThatDoNotEndDoNotHoldTheServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).Flush()
		close(open)
		<-r.Context().Done()
	})}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		Serve(ctx, srv, l, Ending{})
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-open
	cancel()
	<-stopped
	if _, err := io.ReadAll(bufio.NewReader(conn)); err != nil {
		t.Logf("the connection ended with %v", err) // either is an end
	}
}

// pipes is a listener without a network, for a server in a bubble of synctest.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func TestHealthTurnsWhileClientsAreStillLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notice = time.Hour
		g := &gateway{started: make(chan struct{})}
		close(g.started)
		health, l := NewHealth(g), &pipes{make(chan net.Conn), make(chan struct{})}
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
		wants := func(when string, want int) {
			t.Helper()
			status := 0 // nobody is let in
			if resp, err := client.Get("http://toolman/health"); err == nil {
				resp.Body.Close()
				status = resp.StatusCode
			}
			if status != want {
				t.Errorf("%s: %d, want %d", when, status, want)
			}
		}
		ctx, end := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			Serve(ctx, &http.Server{Handler: health}, l, Ending{Health: health, Notice: notice})
		}()
		wants("before the end", http.StatusOK)
		end()
		synctest.Wait()
		wants("at the end", http.StatusServiceUnavailable)
		time.Sleep(notice - 1)
		wants("as long as the notice lasts", http.StatusServiceUnavailable)
		<-stopped
		wants("after it", 0)
	})
}

func TestServeSaysWhyItCannot(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Serve(t.Context(), &http.Server{}, l, Ending{}); err == nil {
		t.Error("no error")
	}
}
