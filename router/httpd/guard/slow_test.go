package guard

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bubble serves within a bubble of synctest, where time passes only when nothing else happens.
func bubble(t *testing.T, o Options, test func(t *testing.T, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		_, s := guarded(t, o, Certificate{})
		s.Handler = wrapped(s.Handler)
		p := newPipes()
		go serve(s, p)
		test(t, p)
		s.Close()
		time.Sleep(time.Minute) // whoever still writes notices
	})
}

// wrapped is next behind a recorder of requests, whose body is never http.NoBody.
func wrapped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = struct{ io.ReadCloser }{r.Body}
		next.ServeHTTP(w, r)
	})
}

// ended is how long it takes until the server ends the connection, and what it has said until then.
func ended(c net.Conn) (time.Duration, string) {
	began := time.Now()
	said, _ := io.ReadAll(c)
	return time.Since(began), string(said)
}

func TestSlowHeadersAreNotWaitedFor(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, p *pipes) {
		c := p.dial()
		go func() { // always something, never the end
			io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
			for range 1000 {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, "X: y\r\n"); err != nil {
					return
				}
			}
		}()
		if after, said := ended(c); after != headerTime {
			t.Errorf("ended after %v: %q", after, said)
		}
	})
}

func TestSlowBodiesAreNotWaitedFor(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, p *pipes) {
		c := p.dial()
		go func() {
			io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
			for range 1000 {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, " "); err != nil {
					return
				}
			}
		}()
		if after, said := ended(c); after != bodyTime || !strings.HasPrefix(said, "HTTP/1.1 408") {
			t.Errorf("ended after %v: %q", after, said)
		}
	})
}

// Who is not let in cannot make the server wait for a body either.
func TestSlowBodiesOfStrangers(t *testing.T) {
	bubble(t, Options{Tokens: []Token{{Agent: "a"}}}, func(t *testing.T, p *pipes) {
		c := p.dial()
		go io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n ")
		if after, said := ended(c); after > bodyTime || !strings.HasPrefix(said, "HTTP/1.1 401") {
			t.Errorf("ended after %v: %q", after, said)
		}
	})
}

func TestIdleConnectionsEnd(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, p *pipes) {
		c := p.dial()
		go io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		if after, said := ended(c); after != idleTime || !strings.HasPrefix(said, "HTTP/1.1 200") {
			t.Errorf("ended after %v: %q", after, said)
		}
	})
}

func TestStreamsLiveOnAndEndWithTheirClient(t *testing.T) {
	for name, request := range map[string]string{
		"GET":          "GET /mcp/stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST":         "POST /mcp/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
		"chunked POST": "POST /mcp/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{}, func(t *testing.T, p *pipes) {
				c := p.dial()
				go io.WriteString(c, request)
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				lines, began := bufio.NewScanner(resp.Body), time.Now()
				for n := 0; time.Since(began) < 24*time.Hour && lines.Scan(); n++ {
					if lines.Text() != "tick" {
						t.Fatalf("got %s", lines.Text())
					}
				}
				if time.Since(began) < 24*time.Hour {
					t.Errorf("ended after %v", time.Since(began))
				}
				c.Close() // the bubble fails when the handler does not notice
			})
		})
	}
}

func TestOverHTTP2TheSameHolds(t *testing.T) {
	files := certFiles(t)
	synctest.Test(t, func(t *testing.T) {
		roots := x509.NewCertPool()
		roots.AddCert(certify(t, files, 1))
		_, s := guarded(t, Options{}, files)
		p := newPipes()
		go serve(s, p)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }}
		client := &http.Client{Transport: transport}
		post := func(path string, body io.Reader) *http.Response {
			resp, err := client.Post("https://127.0.0.1"+path, "application/json", body)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		began := time.Now()
		slow, drip := io.Pipe()
		defer drip.Close()
		resp := post("/mcp", slow)
		if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusRequestTimeout || time.Since(began) != bodyTime {
			t.Errorf("a slow body: HTTP/%d, %d after %v", resp.ProtoMajor, resp.StatusCode, time.Since(began))
		}
		resp.Body.Close()
		for _, body := range []io.Reader{nil, strings.NewReader("{}")} {
			began, resp = time.Now(), post("/mcp/stream", body)
			for lines := bufio.NewScanner(resp.Body); time.Since(began) < 24*time.Hour && lines.Scan(); {
			}
			if time.Since(began) < 24*time.Hour {
				t.Errorf("the stream ended after %v", time.Since(began))
			}
			resp.Body.Close()
		}
		transport.CloseIdleConnections()
		s.Close()
		time.Sleep(time.Minute)
	})
}
