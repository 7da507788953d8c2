package streamhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// numbered is a Credential whose tokens are numbers.
type numbered struct {
	before string // what stands before the number
	n      atomic.Int32
	last   bool // there is no other
	// verdict, if not nil, is what Refused does
	verdict func(sent http.Header, resp *http.Response) Verdict
}

func (c *numbered) Authorize(_ context.Context, h http.Header) error {
	if c.n.Load() < 0 {
		return errors.New("no token today")
	}
	h.Set("Authorization", "Bearer "+c.before+strconv.Itoa(int(c.n.Load())))
	return nil
}

func (c *numbered) Refused(sent http.Header, resp *http.Response) Verdict {
	if c.verdict != nil {
		return c.verdict(sent, resp)
	}
	c.n.Add(1)
	return Verdict{Again: !c.last}
}

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		good  string
		last  bool
		posts int
		ok    bool
	}{
		"the next is good":   {"Bearer 1", false, 2, true},
		"none is good":       {"Bearer 9", false, 2, false},
		"there is no other":  {"Bearer 1", true, 1, false},
		"the first was good": {"Bearer 0", false, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if r.Header.Get("Authorization") != c.good {
					w.WriteHeader(401)
					return
				}
				asJSON(w, 200, result(body, "{}"))
			})
			conn, h := dial(t, Options{URL: f.URL, Credential: &numbered{last: c.last}})
			send(t, conn, modern("1", "tools/call", `"name":"a"`))
			if got := h.next(); c.ok != (got == `{"jsonrpc":"2.0","id":1,"result":{}}`) {
				t.Errorf("got %s", got)
			}
			if n := len(f.requests); n != c.posts {
				t.Errorf("there have been %d POSTs, want %d", n, c.posts)
			}
		})
	}
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {})
	c := &numbered{}
	c.n.Store(-1)
	conn, h := dial(t, Options{URL: f.URL, Credential: c})
	send(t, conn, modern("1", "tools/list", ""))
	if text := problem(t, h.next()); !strings.Contains(text, "no token today") {
		t.Error(text)
	}
	f.silent(t)
}

// statusFor answers requests with a token with a status, and others with a result.
func statusFor(token string, status int) func(w http.ResponseWriter, r *http.Request, body string) {
	return func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			w.Header().Set("WWW-Authenticate", `Bearer error="x"`)
			w.WriteHeader(status)
			return
		}
		asJSON(w, 200, result(body, "{}"))
	}
}

func TestTheCredentialHearsOfRefusalsAndSaysWhatFollows(t *testing.T) {
	for _, tt := range []struct {
		name    string
		status  int
		verdict Verdict
		posts   int
		says    string
	}{
		{"401, with nothing to say", 401, Verdict{}, 1, "check the configured token or headers"},
		{"401, with words of its own", 401, Verdict{Text: "run toolman login linear"}, 1, "run toolman login linear"},
		{"401, and again", 401, Verdict{Again: true, Text: "no"}, 2, "no"},
		{"403 is never sent again", 403, Verdict{Again: true, Text: "more scopes"}, 1, "more scopes"},
		{"of 404 it does not hear", 404, Verdict{Text: "no"}, 1, "there is no MCP server at this URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, statusFor("0", tt.status))
			heard := atomic.Int32{}
			c := &numbered{verdict: func(sent http.Header, resp *http.Response) Verdict {
				heard.Add(1)
				if sent.Get("Authorization") != "Bearer 0" || resp.StatusCode != tt.status || resp.Header.Get("WWW-Authenticate") != `Bearer error="x"` {
					t.Errorf("heard of %v, %v", sent, resp)
				}
				return tt.verdict
			}}
			conn, h := dial(t, Options{URL: f.URL, Credential: c})
			send(t, conn, modern("1", "tools/call", `"name":"a"`))
			if text := h.next(); !strings.Contains(text, tt.says) || tt.verdict.Text == "run toolman login linear" && strings.Contains(text, "configured") {
				t.Error(text)
			}
			if n := len(f.requests); n != tt.posts || tt.status == 404 && heard.Load() != 0 {
				t.Errorf("there have been %d POSTs, want %d", n, tt.posts)
			}
		})
	}
}

func TestATokenThatTheServerRepeatsIsInNoError(t *testing.T) {
	const token = "a-token-of-somebody-0"
	for status, body := range map[int]string{
		400: "no such token: " + token + strings.Repeat(" x", 200), 401: `{"error":"` + token + `"}`, 403: token + " has too few rights",
		500: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"` + token + `"}}`,
	} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/plain"}[body[0] == '{'])
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
		c := &numbered{before: "a-token-of-somebody-", verdict: func(http.Header, *http.Response) Verdict { return Verdict{Text: "it wants the scope " + token} }}
		conn, h := dial(t, Options{URL: f.URL, Credential: c})
		send(t, conn, modern("1", "tools/call", `"name":"a"`))
		if text := h.next(); strings.Contains(text, token) || !strings.Contains(text, "…") {
			t.Errorf("%d: %s", status, text)
		}
	}
}

func TestTheConnectionEndsWithTheCredentialOnceAnswersAreThere(t *testing.T) {
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Header.Get("Authorization") == "Bearer 1" {
			w.WriteHeader(401)
			return
		}
		<-released
		asJSON(w, 200, result(body, "{}"))
	})
	t.Cleanup(release)
	c := &numbered{verdict: func(http.Header, *http.Response) Verdict { return Verdict{Text: "log in", Ended: true} }}
	conn, h := dial(t, Options{URL: f.URL, Credential: c})
	send(t, conn, modern("1", "tools/call", `"name":"a"`))
	f.heard(t)
	c.n.Store(1)
	h.during = sync.OnceFunc(func() { // even the first request after the answer is not sent
		<-f.requests
		c.n.Store(2)
		send(t, conn, modern("3", "tools/call", `"name":"a"`))
		time.Sleep(50 * time.Millisecond)
	})
	limit := time.Now().Add(expireTime)
	send(t, conn, modern("2", "tools/call", `"name":"a"`))
	for range 2 {
		if text := h.next(); !strings.Contains(text, "log in") {
			t.Error(text)
		}
	}
	f.silent(t)
	ended := len(h.closed) > 0
	release()
	if err := <-h.closed; err == nil || err.Error() != "log in" {
		t.Errorf("it ends with %v", err)
	}
	if time.Now().After(limit) {
		return // it does not wait for the server any longer
	}
	if ended {
		t.Error("it ends before the server has answered")
	}
	h.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestTheStreamOfASessionIsOpenedWithANewToken(t *testing.T) {
	s := newSessions()
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodGet && r.Header.Get("Authorization") == "Bearer 0" {
			w.WriteHeader(401)
			return
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL, Credential: &numbered{}})
	begin(t, conn, h)
	<-s.streams
}

// flaky cannot authorize some requests.
type flaky struct{ left atomic.Int32 }

func (c *flaky) Authorize(_ context.Context, h http.Header) error {
	if c.left.Add(-1) >= 0 {
		return &Passing{Err: errors.New("the authorization server is busy")}
	}
	h.Set("Authorization", "Bearer x")
	return nil
}

func (*flaky) Refused(http.Header, *http.Response) Verdict { return Verdict{} }

func TestACredentialThatFailsForAMomentIsAskedAgain(t *testing.T) {
	for failures, ok := range map[int32]bool{1: true, 2: true, 100: false} {
		f := serve(t, statusFor("", 500))
		c := &flaky{}
		c.left.Store(failures)
		conn, h := dial(t, Options{URL: f.URL, Credential: c})
		send(t, conn, modern("1", "tools/call", `"name":"a"`))
		if got := h.next(); ok != (got == `{"jsonrpc":"2.0","id":1,"result":{}}`) || !ok && !strings.Contains(got, "is busy") {
			t.Errorf("after %d failures: %s", failures, got)
		}
	}
}
