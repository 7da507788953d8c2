package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// numbered is a Credential whose tokens are numbers.
type numbered struct {
	n    atomic.Int32
	last bool // there is no other
}

func (c *numbered) Authorize(_ context.Context, h http.Header) error {
	if c.n.Load() < 0 {
		return errors.New("no token today")
	}
	h.Set("Authorization", "Bearer "+strconv.Itoa(int(c.n.Load())))
	return nil
}

func (c *numbered) Refused(http.Header) bool { c.n.Add(1); return !c.last }

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
