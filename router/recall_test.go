package router

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire"
	"toolman/router/recall"
	"toolman/router/upstream"
)

// A past is what a server offered in an earlier run: one tool and one resource.
type past struct{ recall.Offered }

func (p *past) Recall(string) *recall.Offered { return &p.Offered }

func (*past) Remember(recall.Client, *recall.Offered) error { return nil }

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{}
	p.Result = mcpwire.InitializeResult{ProtocolVersion: mcpwire.Latest, Capabilities: map[string]json.RawMessage{"resources": json.RawMessage(`{"subscribe":true}`)}}
	for k, list := range map[mcpwire.Kind]string{mcpwire.Tool: `{"tools":[` + string(fakemcp.Tool("x", "")) + `]}`, mcpwire.Resource: `{"resources":[` + string(fakemcp.Resource("r://x", "")) + `]}`} {
		page, err := mcpwire.ParsePage(k, []byte(list))
		if err != nil {
			t.Fatal(err)
		}
		p.Lists[k] = page.Items
	}
	return p
}

// slow is that server in this run. It answers initialize after ten seconds.
func slow() *fakemcp.Spec {
	return &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("x", "")}, Resources: []fakemcp.Raw{fakemcp.Resource("r://x", "")},
		On: map[string][]fakemcp.Step{"initialize": {fakemcp.Wait(10 * time.Second), fakemcp.Answer()}}}
}

// withPast runs a test with a router whose one server is known from an earlier run.
func withPast(t *testing.T, lazy, open bool, body func(t *testing.T, h *hall, n *inn)) {
	synctest.Test(t, func(t *testing.T) {
		n := newInn(slow())
		n.opens(open)
		h := &hall{t: t}
		t.Cleanup(func() { time.Sleep(time.Minute) }) // until the server has answered nobody
		h.open(upstream.Server{Dial: n.dial, Memory: newPast(t), Lazy: lazy}, zap.NewNop())
		body(t, h, n)
	})
}

const callX = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x"}}`

func TestACallThatWaitsForAServerIsAnsweredWhenAReloadRemovesTheServer(t *testing.T) {
	withPast(t, false, true, func(t *testing.T, h *hall, n *inn) {
		v := h.initialized(`{}`)
		v.says(callX)
		time.Sleep(5 * time.Second)
		if len(n.tries()) != 1 || len(v.heard) > 0 {
			t.Fatalf("it was started %d times, and the call has %d answers", len(n.tries()), len(v.heard))
		}
		o := h.r.Options
		o.Servers = nil
		h.r.Reload(o)
		if answer := v.hears(`"id":1`); !strings.Contains(answer, "unknown tool a_x") {
			t.Errorf("the call is answered %s", answer)
		}
	})
}

func TestAReloadBeforeTheFirstClientRemovesARecalledServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newInn(slow())
		o := Options{URISeparator: "_", Recall: true, Servers: []upstream.Server{{Namespace: "a", Dial: n.dial, Memory: newPast(t), StartTimeout: time.Second}}}
		r := New(o, nil, zap.NewNop())
		defer r.Close()
		r.Start(nil)
		synctest.Wait() // it waits for a client
		o.Servers = nil
		r.Reload(o)
		synctest.Wait()
		r.HandshakeShared()
		synctest.Wait()
		select {
		case <-r.Started():
		default:
			t.Error("the first list waits for the server that was removed")
		}
	})
}

// A subscription is there at once: a record that is made before the server is ready has it.
func TestSubscriptionsDoNotWaitForTheServer(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		withPast(t, lazy, true, func(t *testing.T, h *hall, n *inn) {
			v := h.initialized(`{}`)
			v.says(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a_r://x"}}`)
			synctest.Wait()
			if len(v.heard) != 1 {
				t.Fatal("it waits")
			}
			if r := string(v.s.Record()); !strings.Contains(r, "a_r://x") {
				t.Errorf("recorded %s", r)
			}
			v.hears(`"id":1`)
			time.Sleep(11 * time.Second)
			if st := h.r.Upstreams()[0]; st.State != upstream.Ready {
				t.Errorf("the server is %s", st.State)
			}
			v.says(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"a_r://x"}}`)
			v.hears(`"id":2`)
		})
	}
}

// A lazy server that does not start is started again as others are.
func TestALazyServerThatDoesNotStartIsTriedAgain(t *testing.T) {
	withPast(t, true, false, func(t *testing.T, h *hall, n *inn) {
		v := h.initialized(`{}`)
		if list := v.tools(); !strings.Contains(list, `"a_x"`) {
			t.Fatalf("listed %s", list)
		}
		time.Sleep(time.Minute)
		wantTried(t, n)
		v.says(callX)
		if answer := v.hears(`"id":1`); !strings.Contains(answer, "server a is gone (it is not open)") || !strings.Contains(answer, "tries to reach it again") {
			t.Errorf("the call is answered %s", answer)
		}
		v.hears("notifications/tools/list_changed")
		wantTried(t, n, 60)
		v.says(callX)
		if answer := v.hears(`"id":1`); !strings.Contains(answer, "server a is gone (it is not open)") {
			t.Errorf("the next call is answered %s", answer)
		}
		n.opens(true)
		v.hears("notifications/tools/list_changed")
		wantTried(t, n, 60, 61)
		v.says(callX)
		v.hears(`"id":1`)
	})
}
