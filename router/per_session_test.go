package router

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"toolman/fixtures/fakemcp"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/upstream"
)

// apiece has the hall's server be another for each session: it shows its session's KEY.
func apiece(t *testing.T, share dial.Share) (h *hall, over chan string, log *observer.ObservedLogs) {
	t.Helper()
	h, over = &hall{t: t}, make(chan string, 10)
	core, log := observer.New(zap.WarnLevel)
	h.open(upstream.Server{Share: share, ForSession: func(_ string, config map[string]string) (upstream.Server, error) {
		key, ok := config["KEY"]
		if !ok {
			return upstream.Server{}, errors.New("the session has no KEY")
		}
		spec := &fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("of_"+key, "")}}
		return upstream.Server{Namespace: "a", StartTimeout: patience, Dial: h.dial(spec), Release: func() { over <- key }}, nil
	}}, zap.New(core))
	return h, over, log
}

func (h *hall) configured(key string) *visitor { return h.as(client.Info{}, key) }

// as is configured for a client of this kind.
func (h *hall) as(who client.Info, key string) *visitor {
	if key != "" {
		who.Config = map[string]string{"KEY": key}
	}
	v := h.enter(who)
	v.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`)
	v.hears(`"id":0`)
	return v
}

func TestEachSessionHasAServerOfItsOwnConfiguration(t *testing.T) {
	h, over, log := apiece(t, dial.ShareAuto)
	if st := h.r.Upstreams()[0]; st.State != upstream.PerSession || h.started.Load() != 0 {
		t.Errorf("before there is a session the server is %s, and %d were started", st.State, h.started.Load())
	}
	one, two := h.configured("one"), h.configured("two")
	for v, key := range map[*visitor]string{one: "one", two: "two"} {
		if list := v.lists(t); strings.Count(list, `"a_of_`) != 1 || !strings.Contains(list, `"a_of_`+key+`"`) {
			t.Errorf("%s is listed %s", key, list)
		}
	}
	m := h.enter(client.Info{Many: true, Config: map[string]string{"KEY": "three"}})
	m.says(modern("1", "tools/list", `"x":1`, `{}`))
	if list := m.hears(`"id":1`); !strings.Contains(list, `"a_of_three"`) {
		t.Errorf("a modern client is listed %s", list)
	}
	one.says(callFrame("1", "a_of_two", "{}"))
	if answer := one.hears(`"id":1`); !strings.Contains(answer, "isError") {
		t.Errorf("another session's tool answers %s", answer)
	}
	if n := log.Len(); n > 0 {
		t.Errorf("%d warnings: %v", n, log.All())
	}
	one.s.End()
	if key := <-over; key != "one" {
		t.Errorf("%s is over", key)
	}
	if n := h.running.Load(); n != 2 {
		t.Errorf("%d servers run, want 2", n)
	}
}

// All servers may be ready, or need nobody's greeting, before the only client says who it is.
func TestTheOnlyClientHasAServerOfItsOwnConfiguration(t *testing.T) {
	h, _, _ := apiece(t, dial.ShareAuto)
	if list := h.as(soleClient, "one").lists(t); !strings.Contains(list, `"a_of_one"`) {
		t.Errorf("it is listed %s", list)
	}
	h, _, _ = apiece(t, dial.ShareAuto)
	v := h.as(soleClient, "")
	v.says(callFrame("1", "a_of_one", "{}"))
	if answer := v.hears(`"id":1`); !strings.Contains(answer, "this session has no server a, because the session has no KEY") {
		t.Errorf("a call is answered %s", answer)
	}
	h, _, _ = apiece(t, dial.ShareAuto)
	m := h.enter(client.Info{Sole: true, Config: map[string]string{"KEY": "two"}})
	m.says(modern("1", "tools/list", `"x":1`, `{}`))
	if list := m.hears(`"id":1`); !strings.Contains(list, `"a_of_two"`) {
		t.Errorf("a modern client is listed %s", list)
	}
}

func TestASessionWithoutTheConfigurationGoesWithoutTheServer(t *testing.T) {
	h, _, log := apiece(t, dial.ShareNever)
	v := h.configured("")
	for range 2 {
		if list := v.lists(t); strings.Contains(list, `"a_of_`) {
			t.Errorf("listed %s", list)
		}
		h.r.update()
	}
	v.says(callFrame("1", "a_of_one", "{}"))
	if answer, want := v.hears(`"id":1`), "tool a_of_one cannot be used: this session has no server a, because the session has no KEY"; !strings.Contains(answer, want) {
		t.Errorf("a call is answered %s", answer)
	}
	v.says(callFrame("2", "b_of_one", "{}"))
	if answer := v.hears(`"id":2`); !strings.Contains(answer, "unknown tool b_of_one") {
		t.Errorf("a call of no server's tool is answered %s", answer)
	}
	if st, known := v.s.Upstream("a"); !known || st.State != upstream.Gone || st.Problem != "the session has no KEY" {
		t.Errorf("its status is %v, %t", st, known)
	}
	all := log.All()
	if len(all) != 1 || all[0].Message != "this session goes without the server" || all[0].ContextMap()["err"] != "the session has no KEY" {
		t.Errorf("logged %v", all)
	}
	if h.started.Load() != 0 {
		t.Error("a server was started")
	}
}

func TestAReloadKeepsTheServersOfSessionsWhileTheyStay(t *testing.T) {
	h, over, _ := apiece(t, dial.ShareAuto)
	v := h.configured("one")
	v.lists(t)
	o := h.r.Options
	h.r.Reload(o)
	if list := v.lists(t); !strings.Contains(list, `"a_of_one"`) || h.started.Load() != 1 {
		t.Errorf("after a reload of the same %d were started; listed %s", h.started.Load(), list)
	}
	o.Servers = nil
	h.r.Reload(o)
	if list := v.lists(t); strings.Contains(list, `"a_of_one"`) {
		t.Errorf("after it was taken out, listed %s", list)
	}
	<-over
}
