package router

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"toolman/fixtures/fakemcp"
	"toolman/jsonrpc/peer"
	"toolman/router/dial"
	"toolman/router/upstream"
)

// An inn is a server that toolman has not started: it is open or not, and throws out who is
// there.
type inn struct {
	spec *fakemcp.Spec

	mu     sync.Mutex
	open   bool            // guarded by mu
	tried  []time.Duration // guarded by mu: when somebody came, since the start
	guests []io.Closer     // guarded by mu: what ends them, in the order in which they came
	start  time.Time
}

func newInn(spec *fakemcp.Spec) *inn {
	return &inn{spec: spec, start: time.Now()}
}

var errNotOpen = errors.New("it is not open")

func (n *inn) dial(func(string)) (dial.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tried = append(n.tried, time.Since(n.start))
	if !n.open {
		return nil, errNotOpen
	}
	in, theirOut := io.Pipe()
	theirIn, out := io.Pipe()
	n.guests = append(n.guests, theirOut)
	over := make(chan struct{})
	go func() {
		defer close(over)
		fakemcp.Run(n.spec, theirIn, theirOut, io.Discard)
		theirOut.Close()
	}()
	return &played{peer.NewStream(in, out, peer.Options{}), over}, nil
}

// opens lets guests in from now on, or throws all out.
func (n *inn) opens(open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = open
	for _, guest := range n.guests {
		if !open {
			guest.Close()
		}
	}
}

// throwsOut ends the connection of the guest who came as the i-th.
func (n *inn) throwsOut(i int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.guests[i].Close()
}

func (n *inn) tries() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tried
}

// atInn runs a test with a router whose one server is an inn, on a clock of its own.
func atInn(t *testing.T, spec *fakemcp.Spec, open bool, body func(t *testing.T, h *hall, n *inn, log *observer.ObservedLogs)) {
	synctest.Test(t, func(t *testing.T) {
		n := newInn(spec)
		n.opens(open)
		core, log := observer.New(zap.WarnLevel)
		h := &hall{t: t}
		h.open(upstream.Server{Dial: n.dial}, zap.New(core))
		body(t, h, n, log)
	})
}

const listed = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`

func (v *visitor) tools() string {
	v.t.Helper()
	v.says(listed)
	return v.hears(`"id":"list"`)
}

func wantTried(t *testing.T, n *inn, seconds ...int) {
	t.Helper()
	synctest.Wait()
	got := n.tries()
	same := len(got) == len(seconds)
	for i := range min(len(got), len(seconds)) {
		same = same && got[i] == time.Duration(seconds[i])*time.Second
	}
	if !same {
		t.Errorf("it was tried at %v, want at the seconds %v", got, seconds)
	}
}

func TestAServerThatIsNotThereAtFirstComesByItself(t *testing.T) {
	atInn(t, asking(), false, func(t *testing.T, h *hall, n *inn, log *observer.ObservedLogs) {
		v := h.initialized(`{}`)
		if got := v.tools(); strings.Contains(got, `"name":"a_who"`) {
			t.Errorf("listed %s", got)
		}
		time.Sleep(5 * time.Second)
		n.opens(true)
		v.hears("notifications/tools/list_changed")
		wantTried(t, n, 0, 1, 3, 7)
		if got := v.tools(); !strings.Contains(got, `"name":"a_who"`) {
			t.Errorf("listed %s", got)
		}
		if st := h.r.Upstreams()[0]; st.State != upstream.Ready || st.Problem != "" {
			t.Errorf("the state is %v, %s", st.State, st.Problem)
		}
		if all := log.All(); len(all) != 1 || all[0].Message != "upstream not started" {
			t.Errorf("the same failure is logged %d times: %v", len(all), all)
		}
	})
}

func TestTheTriesGetRare(t *testing.T) {
	atInn(t, asking(), false, func(t *testing.T, h *hall, n *inn, _ *observer.ObservedLogs) {
		time.Sleep(2 * time.Minute)
		wantTried(t, n, 0, 1, 3, 7, 15, 31, 61, 91)
	})
}

func TestAServerComesBackAsItWas(t *testing.T) {
	spec := asking()
	spec.Resources = []fakemcp.Raw{fakemcp.Resource("r://one", "")}
	spec.On["tools/call plain"] = []fakemcp.Step{fakemcp.Notify("notifications/resources/updated", `{"uri":"r://one"}`), fakemcp.Answer()}
	spec.On["tools/call hang"] = []fakemcp.Step{fakemcp.Wait(2 * time.Minute)}
	spec.Tools = append(spec.Tools, fakemcp.Tool("hang", ""))
	atInn(t, spec, true, func(t *testing.T, h *hall, n *inn, log *observer.ObservedLogs) {
		v := h.initialized(`{}`)
		off := `{"jsonrpc":"2.0","id":"off","method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":[],"tools_off":["a_who"],"resources_on":[],"resources_off":[]}}}`
		v.says(off)
		v.hears(`"id":"off"`)
		v.says(`{"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":"a_r://one"}}`)
		v.hears(`"id":"s"`)
		v.says(`{"jsonrpc":"2.0","id":"hang","method":"tools/call","params":{"name":"a_hang"}}`)
		v.hears("notifications/tools/list_changed") // of what was switched off
		time.Sleep(time.Minute)

		n.opens(false)
		if got := v.hears(`"id":"hang"`); !strings.Contains(got, "toolman tries to reach it again") {
			t.Errorf("a call under way is answered %s", got)
		}
		v.hears("notifications/tools/list_changed")
		if got := v.tools(); strings.Contains(got, `"name":"a_plain"`) {
			t.Errorf("listed while it is gone: %s", got)
		}
		n.opens(true)
		v.hears("notifications/tools/list_changed")
		if got := v.tools(); !strings.Contains(got, `"name":"a_plain"`) || strings.Contains(got, `"name":"a_who"`) {
			t.Errorf("listed %s", got)
		}
		wantTried(t, n, 0, 61)
		v.says(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"a_plain"}}`)
		v.hears(`notifications/resources/updated`)
		v.hears(`"id":"call"`)
		if log.FilterMessage("upstream gone").Len() != 1 {
			t.Errorf("logged %v", log.All())
		}
		time.Sleep(2 * time.Minute) // the call is over at the server
	})
}

// The pauses are those of one that is not there at all, or it would be greeted every second.
func TestAServerThatLetsNobodyStayIsTriedRarely(t *testing.T) {
	spec := asking()
	spec.On["notifications/initialized"] = []fakemcp.Step{fakemcp.Wait(100 * time.Millisecond), fakemcp.CloseStdout()}
	atInn(t, spec, true, func(t *testing.T, h *hall, n *inn, _ *observer.ObservedLogs) {
		time.Sleep(70 * time.Second)
		if got := len(n.tries()); got != 7 {
			t.Errorf("it was tried %d times in 70 s: %v", got, n.tries())
		}
	})
}

func TestAnotherReasonToBeGoneIsSaid(t *testing.T) {
	spec := asking()
	spec.On["initialize"] = []fakemcp.Step{fakemcp.Fail(`{"code":-32000,"message":"not today"}`)}
	spec.On["server/discover"] = spec.On["initialize"]
	atInn(t, spec, false, func(t *testing.T, h *hall, n *inn, log *observer.ObservedLogs) {
		time.Sleep(2 * time.Second)
		n.opens(true)
		time.Sleep(time.Minute)
		if st := h.r.Upstreams()[0]; st.State != upstream.Gone || !strings.Contains(st.Problem, "not today") {
			t.Errorf("the state is %v: %s", st.State, st.Problem)
		}
		if all := log.All(); len(all) != 2 {
			t.Errorf("logged %v", all)
		}
	})
}

// Each session that has a connection of its own gets another, too.
func TestConnectionsOfSessionsComeBack(t *testing.T) {
	atInn(t, asking(), true, func(t *testing.T, h *hall, n *inn, _ *observer.ObservedLogs) {
		a, b := h.initialized(`{"elicitation":{}}`), h.initialized(`{"elicitation":{}}`)
		for _, v := range []*visitor{a, b} {
			v.tools()
		}
		time.Sleep(time.Minute)
		n.opens(false)
		n.opens(true)
		time.Sleep(10 * time.Second)
		for _, v := range []*visitor{a, b} {
			v.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_who"}}`)
		}
		for _, v := range []*visitor{b, a} {
			m := scanned(t, v.hears("elicitation/create"))
			v.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, m.Bytes(m.ID)))
			v.hears(`"id":2`)
		}
		if got := len(n.tries()); got != 6 {
			t.Errorf("%d connections were made, want one for all and two others, twice", got)
		}
		if n := h.r.pool.Quota.Count(); n != 2 {
			t.Errorf("%d connections of sessions are counted, want 2", n)
		}
	})
}

// Whoever has the configuration changed has the server tried at once, and by one only.
func TestAChangedConfigurationTriesAnew(t *testing.T) {
	atInn(t, asking(), false, func(t *testing.T, h *hall, n *inn, _ *observer.ObservedLogs) {
		time.Sleep(20 * time.Second)
		h.r.Reload(*h.r.current())
		time.Sleep(9 * time.Second)
		wantTried(t, n, 0, 1, 3, 7, 15, 20, 21, 23, 27)
		o := *h.r.current()
		o.Servers = nil
		h.r.Reload(o)
		time.Sleep(time.Minute)
		wantTried(t, n, 0, 1, 3, 7, 15, 20, 21, 23, 27)
	})
}

// A server may close the connection of one session alone. It is tried less often if it does so
// again.
func TestAConnectionOfASessionComesBack(t *testing.T) {
	atInn(t, asking(), true, func(t *testing.T, h *hall, n *inn, _ *observer.ObservedLogs) {
		v := h.initialized(`{"elicitation":{}}`)
		v.tools()
		time.Sleep(time.Minute)
		for i, away := range []time.Duration{2 * time.Second, 3 * time.Second} {
			n.throwsOut(1 + i)
			v.hears("notifications/tools/list_changed")
			if got := v.tools(); strings.Contains(got, `"name":"a_who"`) {
				t.Errorf("listed while it is gone: %s", got)
			}
			time.Sleep(away)
			v.hears("notifications/tools/list_changed")
			if got := v.tools(); !strings.Contains(got, `"name":"a_who"`) {
				t.Errorf("listed %s later: %s", away, got)
			}
		}
		wantTried(t, n, 0, 0, 61, 64)
		if n := h.r.pool.Quota.Count(); n != 1 {
			t.Errorf("%d connections of sessions are counted, want 1", n)
		}
		v.s.End()
	})
}

// A process may end because it does not know server/discover. A connection ends for another reason,
// such as a token that is refused, and what it is must not be lost in a second try.
func TestAConnectionThatEndsInsteadOfAnsweringIsNotTriedAsALegacyOne(t *testing.T) {
	spec := &fakemcp.Spec{On: map[string][]fakemcp.Step{"server/discover": {fakemcp.CloseStdout()}}}
	atInn(t, spec, true, func(t *testing.T, h *hall, n *inn, log *observer.ObservedLogs) {
		wantTried(t, n, 0)
		if all := log.All(); len(all) != 1 || all[0].Message != "upstream gone" {
			t.Errorf("logged: %v", all)
		}
		time.Sleep(time.Second)
		wantTried(t, n, 0, 1)
	})
}
