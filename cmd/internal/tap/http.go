package tap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/tap/record"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire/httpclient"
)

const headerTime = 30 * time.Second // for the head of a request

// http taps a server over HTTP until ctx is done.
func (c *command) http(ctx context.Context, stderr io.Writer) error {
	target, err := url.Parse(c.target)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return cli.Usage(fmt.Errorf("--http %q is no URL of a server", c.target), "write it as in the client, such as https://example.com/mcp")
	}
	listener, err := net.Listen("tcp", atLoopback(c.listen))
	if err != nil {
		return cli.Usage(err, "let --listen name a free port, such as 127.0.0.1:8931; without it, one is chosen")
	}
	defer listener.Close()
	rec, err := c.record(trace.Session{Run: newRun(), Tap: target.Host, Upstreams: []trace.Server{{Name: target.Host, Command: httpclient.Shown(target)}}},
		secretsOfURL(os.Environ(), target), nil)
	if err != nil {
		return err
	}
	defer rec.Close(flushTime)
	handler, err := newProxy(target, isLocalAddr(listener.Addr()), rec.HTTP())
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ErrorLog: log.New(io.Discard, "", 0)}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Fprintf(stderr, "toolman: http://%s%s passes everything on to %s\n", listener.Addr(), target.EscapedPath(), httpclient.Shown(target))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return cli.Failed(err, "start it again")
	}
	return nil
}

// atLoopback returns an address to listen on, by default of this machine alone.
func atLoopback(addr string) string {
	if strings.HasPrefix(addr, ":") {
		return "127.0.0.1" + addr
	}
	return addr
}

func secretsOfURL(env []string, u *url.URL) []string {
	var parameters []string
	for name, values := range u.Query() {
		for _, v := range values {
			parameters = append(parameters, name+"="+v)
		}
	}
	return secretsOf(append(parameters, env...), []string{u.String()})
}

// isLocalAddr reports whether only programs of this machine reach a listener.
func isLocalAddr(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// newProxy returns a handler that passes requests on to the origin of target, and responses back.
// Only Host and the headers that are between two neighbours differ. private says that only programs
// of this machine reach it.
func newProxy(target *url.URL, private bool, rec *record.HTTP) (http.Handler, error) {
	transport, err := httpclient.NewTransport("")
	if err != nil {
		return nil, err
	}
	transport.DisableCompression = true // or bodies would change
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, ""
			r.Out.URL.RawQuery = r.In.URL.RawQuery // also what net/url does not read
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if values, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = values
				}
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			e := exchangeOf(resp.Request)
			e.Answer(resp)
			resp.Body = &traced{ReadCloser: resp.Body, copy: e.Response, over: e.End}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			exchangeOf(r).Fail(err)
			http.Error(w, "toolman tap: no response from "+httpclient.Shown(target)+": "+err.Error(), http.StatusBadGateway)
		},
	}
	local := isLocal(target.Hostname())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := foreign(r, private || local, local); why != "" {
			http.Error(w, "toolman tap: "+why+" may not use this tap", http.StatusForbidden)
			return
		}
		e := rec.Begin(r)
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e))
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &traced{ReadCloser: r.Body, copy: e.Request}
		}
		// Or the first byte of a response would close the body of a request that is still being
		// passed on, and that would end both.
		http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(plain{w}, r)
	}), nil
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *record.Exchange {
	return r.Context().Value(exchangeKey{}).(*record.Exchange)
}

// foreign says what speaks against a request: a page of another site whose name was made to point
// here (DNS rebinding) has that name as its host. The server, which may refuse such names, does not
// see it, because Host is replaced. A server of this machine has no pages of other sites as
// clients, either.
func foreign(r *http.Request, byHost, byOrigin bool) string {
	host := (&url.URL{Host: r.Host}).Hostname()
	if _, err := netip.ParseAddr(host); byHost && err != nil && !isLocal(host) {
		return "the host " + host
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); byOrigin && (err != nil || !isLocal(u.Hostname()) && u.Host != r.Host) {
			return "pages of " + origin
		}
	}
	return ""
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && (a.Unmap().IsLoopback() || a.IsUnspecified())
}

// traced is a body of which the trace gets a copy.
type traced struct {
	io.ReadCloser
	copy *record.Stream
	over func(error) // may be nil
	done bool
}

func (t *traced) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.copy.Put(p[:n])
	}
	if err != nil {
		t.end(err)
	}
	return n, err
}

// Close ends a body that was not read to its end.
func (t *traced) Close() error {
	t.end(errors.New("the client has closed the connection"))
	return t.ReadCloser.Close()
}

func (t *traced) end(err error) {
	if t.done || t.over == nil {
		return
	}
	if t.done = true; err == io.EOF {
		err = nil
	}
	t.over(err)
}

// plain is a ResponseWriter that adds no headers of its own.
type plain struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w plain) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w plain) WriteHeader(code int) {
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := w.Header()[name]; !ok {
			w.Header()[name] = nil
		}
	}
	w.ResponseWriter.WriteHeader(code)
}
