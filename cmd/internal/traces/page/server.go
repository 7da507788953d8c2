package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"toolman/cmd/internal/cli"
)

const (
	maxStreams   = 32
	writeTimeout = time.Minute     // for a page to take what it was sent
	endTimeout   = 2 * time.Second // for what is open when the server ends
)

// A file is a trace that the server shows.
type file struct {
	id   string
	path string
	name string // as the user wrote it
}

// A server shows traces on a page. It is an http.Handler.
type server struct {
	files   []file
	token   string
	hosts   []string // that requests may name
	page    []byte
	csp     string
	routes  http.ServeMux
	ended   <-chan struct{} // closed when streams have to end
	endTime time.Duration   // that they have for that
	streams atomic.Int32

	debuggers debuggers

	comparing chan struct{} // of capacity 1: holds the right to compare
}

// newServer returns a server for a port on loopback, which ends its streams when ctx is done.
func newServer(ctx context.Context, files []file, token string, port int) *server {
	s := &server{files: files, token: token, page: template, csp: policyOf(template, "connect-src 'self'; frame-ancestors 'none'"), ended: ctx.Done(), endTime: endTimeout, comparing: make(chan struct{}, 1)}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s.hosts = append(s.hosts, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	s.routes.HandleFunc("GET /{$}", s.servePage)
	s.routes.HandleFunc("GET /runs", s.serveRuns)
	s.routes.HandleFunc("GET /events", s.serveEvents)
	s.routes.HandleFunc("GET /line", s.serveLine)
	s.routes.HandleFunc("GET /diff", s.serveDiff)
	s.routes.HandleFunc("GET /debug", s.serveDebug)
	s.routes.HandleFunc("POST /debug", s.serveCommand)
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer") // the address has the token
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if err := s.refuses(r); err != nil {
		http.Error(w, "toolman: "+err.Error(), http.StatusForbidden)
		return
	}
	s.routes.ServeHTTP(w, r)
}

// refuses returns why a request is not served: it is not from the page, or from one who was told
// its address. A page of another site cannot know the token, and is refused in case it does.
func (s *server) refuses(r *http.Request) error {
	if !s.isOwn(r.Host) {
		return errors.New("requests have to name 127.0.0.1 and the port of toolman trace open as their host")
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || u.Host != r.Host {
			return errors.New("pages of other origins may not use this address")
		}
	}
	if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(s.token)) != 1 {
		return errors.New("the token in the address is missing or wrong: open the address that toolman trace open has printed")
	}
	return nil
}

func (s *server) isOwn(host string) bool {
	for _, own := range s.hosts {
		if host == own {
			return true
		}
	}
	return false
}

// serve answers requests on l until ctx is done, and ends what is open then.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return cli.Failed(err, "start toolman trace open again")
	case <-ctx.Done():
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), s.endTime)
	defer stop()
	if web.Shutdown(late) != nil {
		web.Close()
	}
	<-ended
	return nil
}

func (s *server) servePage(w http.ResponseWriter, r *http.Request) {
	hasToTake(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(s.page)
}

// A run is what the page is told of a file.
type run struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Name string `json:"name"`
	Live bool   `json:"live"`
	Size int64  `json:"size"`
}

func (s *server) serveRuns(w http.ResponseWriter, r *http.Request) {
	runs := make([]run, len(s.files))
	for i, f := range s.files {
		runs[i] = run{ID: f.id, File: f.path, Name: f.name, Live: true, Size: sizeOf(f.path)}
	}
	hasToTake(w)
	w.Header().Set("Content-Type", "application/json")
	w.Write(cli.JSON(runs))
}

// file returns the file that a parameter of a request names, or answers it.
func (s *server) file(w http.ResponseWriter, r *http.Request, parameter string) (file, bool) {
	id := r.URL.Query().Get(parameter)
	for _, f := range s.files {
		if f.id == id {
			return f, true
		}
	}
	http.Error(w, fmt.Sprintf("toolman: there is no file %q here; /runs lists them", id), http.StatusNotFound)
	return file{}, false
}

// hasToTake ends the connection if the page does not take the next of what it is sent in time.
func hasToTake(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// newToken returns a token that cannot be guessed.
func newToken() string { return rand.Text() }
