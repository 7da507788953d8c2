package router

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
	"toolman/router/session"
)

// A request that takes the route of the one before goes where it would have gone
// without that, whatever happened between them.
func TestTheLastRouteIsTheRightOne(t *testing.T) {
	const tool = `{"name":"%s","inputSchema":{"type":"object"}}`
	var pairs [2]struct {
		s              *session.Session
		client, server *outlet
	}
	for i := range pairs {
		p := &pairs[i]
		p.s, _, p.client, p.server = joined(t, "ns", fmt.Sprintf(tool, "a"), fmt.Sprintf(tool, "b"))
		p.s.Peer.Meta = (&mcpwire.Hello{}).Claim("")
	}
	params := []string{
		`{"name":"ns_a","arguments":{"x":"%d"}}`,
		`{"name":"ns_b","arguments":{"x":"%d"}}`,
		`{"name":"ns_c","arguments":{"x":"%d"}}`,
		`{"name":"\u006es_a","arguments":{"x":"%d"}}`,
		`{"arguments":{"x":%d},"name":"ns_a"}`,
		`{"name":"ns_a","arguments":{"x":"%d"},"task":{}}`,
		`{"name":"ns_a","arguments":{"x":"%d"},"_meta":{"progressToken":"p"}}`,
		`{"name":"ns_a","arguments":{"x":"%d"},"_meta":{` + envelope + `}}`,
		`{"name":"ns_a","name":"ns_b","arguments":{"x":"%d"}}`,
		`{"name":"ns_a","Name":"ns_b","arguments":{"x":"%d"}}`,
		`["ns_a",%d]`,
	}
	number := regexp.MustCompile(`\d{9,}`) // of toolman's own, which are random
	random := rand.New(rand.NewPCG(1, 2))
	var scan jsonrpc.Scanner
	took := 0
	for i := range 20_000 {
		on := map[string]bool{"ns_a": random.IntN(2) == 0}
		change := random.IntN(20) == 0
		// Rows of the same make the last route count.
		with := params[0]
		if random.IntN(3) == 0 {
			with = params[random.IntN(len(params))]
		}
		method := "tools/call"
		if random.IntN(10) == 0 {
			method = "prompts/get"
		}
		frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"c%d","method":"%s","params":`+with+`}`, i, method, i)
		for j := range pairs {
			p := &pairs[j]
			if change {
				p.s.View.Store(p.s.View.Load().Switched(on, nil))
			}
			p.client.frame, p.server.frame = p.client.frame[:0], p.server.frame[:0]
			var m jsonrpc.Message
			var out peer.Outgoing
			read := jsonrpc.Scan
			if j == 0 {
				read = scan.Scan
			}
			if err := read(frame, &m); err != nil {
				t.Fatal(err)
			}
			if session.Simulate(p.s).TakesLastRoute(&m) {
				took++
			}
			p.s.Message(&m, &out)
			out.Flush()
		}
		got, want := &pairs[0], &pairs[1]
		if string(got.client.frame) != string(want.client.frame) ||
			number.ReplaceAllString(string(got.server.frame), "") != number.ReplaceAllString(string(want.server.frame), "") {
			t.Fatalf("%s:\nclient got %s\n    want %s\nserver got %s\n    want %s", frame, got.client.frame, want.client.frame, got.server.frame, want.server.frame)
		}
	}
	if took < 1000 {
		t.Errorf("%d requests took the last route", took)
	}
}

func TestACallWaitsBehindOthersAlsoOnTheLastRoute(t *testing.T) {
	for name, stop := range map[string]func(*session.Session){
		"its own servers start": func(s *session.Session) { session.Simulate(s).AwaitServer() },
		"something is done":     func(s *session.Session) { session.Simulate(s).Occupy() },
		"others wait":           func(s *session.Session) { session.Simulate(s).Defer() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, _, server := joined(t, "ns", echoTool)
				var fromClient reader
				call := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","arguments":{}}}`)
				for range 4 {
					fromClient.deliver(t, s, call)
				}
				if !session.Simulate(s).TakesLastRoute(&fromClient.m) {
					t.Fatal("the call does not take the last route")
				}
				stop(s)
				waiting := session.Simulate(s).Held().Deferred
				server.frame = nil
				fromClient.deliver(t, s, call)
				if server.frame != nil || session.Simulate(s).Held().Deferred != waiting+1 {
					t.Errorf("the server got %s, %d requests wait", server.frame, session.Simulate(s).Held().Deferred)
				}
				s.End()
				time.Sleep(time.Minute) // until what is done has ended
			})
		})
	}
}

func TestACallThatIsTimedDoesNotTakeTheLastRoute(t *testing.T) {
	s, u, _, _ := joined(t, "ns", echoTool)
	var fromClient reader
	timed := 0
	for i := range 8 {
		if i == 4 {
			s.Clock.EnableTiming()
		} // a reload may bring a server with a call_timeout
		fromClient.deliver(t, s, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","arguments":{}}}`))
	}
	u.Calls.EachCall(func(_ uint64, c calls.Call) {
		if c.SentAt > 0 {
			timed++
		}
	})
	if timed != 4 {
		t.Errorf("%d calls are timed, want 4", timed)
	}
}
