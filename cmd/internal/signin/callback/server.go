package callback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/httpclient"
)

const (
	headerTime = 10 * time.Second
	pageTime   = 30 * time.Second // until the page is on its way
	closeTime  = 2 * time.Second  // for connections to end
	maxHeader  = 64 << 10         // bytes of a request: a code is in its URL
	portTries  = 16
)

// DefaultURI is the redirect URI with the port that is free.
const DefaultURI = "http://127.0.0.1/callback"

// A Server waits for the browser at a redirect URI.
type Server struct {
	uri       string
	host      string // that requests are for
	path      string
	listeners []net.Listener
	web       *http.Server
	answers   chan Answer
	finished  chan struct{} // closed when the page can say how the login went
	shown     chan struct{} // closed when the page is written, or the browser gone
	finish    sync.Once
	ok        bool // how it went; read after finished

	mu       sync.Mutex
	answered bool // guarded by mu
}

// Listen opens the port of a redirect URI on this machine. A URI without a port gets a free one
// (RFC 8252, 7.3). A URI with the host localhost has the loopback addresses of IPv4 and IPv6.
func Listen(uri string) (*Server, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Fragment != "" || u.RawQuery != "" || !httpclient.IsLoopback(u.Hostname()) {
		return nil, cli.Failed(fmt.Errorf("the redirect URI %q cannot be used: it is not http on this machine, without a query", uri),
			`write redirect_uri = "http://127.0.0.1:PORT/callback", or leave it out`)
	}
	s := &Server{answers: make(chan Answer, 1), finished: make(chan struct{}), shown: make(chan struct{}), path: pathOf(u)}
	port := u.Port()
	if s.listeners, err = listen(u.Hostname(), port); err != nil {
		return nil, cli.Failed(fmt.Errorf("nobody can listen at the redirect URI %s: %w", uri, err), "end the program that uses the port, or set another redirect_uri in oauth of the server")
	}
	if port == "" {
		_, port, _ = net.SplitHostPort(s.listeners[0].Addr().String())
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	s.uri, s.host = u.String(), strings.TrimSuffix(u.Host, ":80") // as browsers do
	return s, nil
}

// listen listens at all loopback addresses of a host, at a free port if port is "".
func listen(host, port string) (all []net.Listener, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		l, err := net.Listen("tcp", net.JoinHostPort(addr.String(), orAny(port)))
		return []net.Listener{l}, err
	}
	for range portTries {
		v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", orAny(port)))
		if err != nil {
			return nil, err
		}
		at := strconv.Itoa(v4.Addr().(*net.TCPAddr).Port)
		v6, err := net.Listen("tcp6", net.JoinHostPort("::1", at))
		if err == nil {
			return []net.Listener{v4, v6}, nil
		}
		if !hasIPv6() {
			return []net.Listener{v4}, nil
		}
		v4.Close() // else another program could get what the browser sends
		if port != "" {
			return nil, err
		}
	}
	return nil, errors.New("no port is free for both 127.0.0.1 and ::1")
}

func orAny(port string) string {
	if port == "" {
		return "0"
	}
	return port
}

// hasIPv6 reports whether this machine has the address ::1.
func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		l.Close()
	}
	return err == nil
}

// URI returns the redirect URI, with its port.
func (s *Server) URI() string { return s.uri }

// Serve begins to wait for the answer that is expected. The channel gets at most one.
func (s *Server) Serve(e Expected) <-chan Answer {
	s.web = &http.Server{Handler: s.handler(e), ReadHeaderTimeout: headerTime, IdleTimeout: headerTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0)}
	for _, l := range s.listeners {
		go s.web.Serve(l)
	}
	return s.answers
}

// Close ends the server. The page that is open in the browser says whether the login worked.
func (s *Server) Close(ok bool) {
	s.finish.Do(func() {
		s.ok = ok
		close(s.finished)
	})
	if s.web == nil {
		for _, l := range s.listeners {
			l.Close()
		}
		return
	}
	if s.hasAnswered() {
		select {
		case <-s.shown:
		case <-time.After(pageTime):
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	s.web.Shutdown(ctx)
	s.web.Close()
}

func (s *Server) handler(e Expected) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil || r.Method != http.MethodGet || !strings.EqualFold(r.Host, s.host) || pathOf(r.URL) != s.path {
			page(w, http.StatusNotFound, "Not found", "There is nothing here.")
			return
		}
		a, ok := e.answer(query)
		if !ok || !s.first() {
			page(w, http.StatusNotFound, "Not found", "This is not the answer to a login that toolman waits for.")
			return
		}
		defer close(s.shown)
		s.answers <- a
		select {
		case <-s.finished:
		case <-r.Context().Done():
			return
		}
		if s.ok {
			page(w, http.StatusOK, "Logged in", "toolman is logged in. You can close this page.")
		} else {
			page(w, http.StatusBadRequest, "The login failed", "The terminal where toolman runs says why. You can close this page.")
		}
	})
}

// first reports whether nothing was answered before.
func (s *Server) first() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.answered
	s.answered = true
	return !was
}

func (s *Server) hasAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// page writes a page that loads nothing and that no other page can show.
func page(w http.ResponseWriter, status int, title, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	html := "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>toolman: " +
		title + "</title>\n<h1>" + title + "</h1>\n<p>" + text + "</p>\n</html>\n"
	h.Set("Content-Length", strconv.Itoa(len(html)))
	w.WriteHeader(status)
	io.WriteString(w, html)
	http.NewResponseController(w).Flush() // all of it, as its length is known
}
