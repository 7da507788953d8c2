package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/budget"
	"toolman/router/calls"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/limiter"
	"toolman/router/session"
)

// gated is a rig with a server that has so many calls at once.
func gated(t testing.TB, most int) (g *rig, client, server *link) {
	t.Helper()
	o := various()
	o.most = most
	return one(t, o)
}

// numbered are the calls of ns_echo that a server has been sent, by their argument, and
// the ids it knows them by.
func numbered(t testing.TB, frames []string) (names, ids []string) {
	t.Helper()
	for _, frame := range frames {
		m := scanned(t, frame)
		arguments, _ := m.Param("arguments")
		names, ids = append(names, string(m.Bytes(arguments))), append(ids, string(m.Bytes(m.ID)))
	}
	return names, ids
}

func callNumber(i int) string { return fmt.Sprintf(echo, fmt.Sprint(i), fmt.Sprint(i)) }

func TestCallsBeyondTheLimitWaitInOrder(t *testing.T) {
	g, client, server := gated(t, 2)
	for i := range 5 {
		client.says(callNumber(i))
	}
	names, ids := numbered(t, server.hears())
	checkList(t, "at once", names, "0", "1")
	client.says(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	client.wants(`{"jsonrpc":"2.0","id":"p","result":{}}`)
	g.quiet()
	if n := g.s.Pending(); n != 5 {
		t.Errorf("%d are pending, want 5", n)
	}
	server.says(reply(ids[1], `{"of":1}`))
	client.wants(reply("1", `{"of":1}`))
	names, more := numbered(t, server.hears())
	checkList(t, "when one is answered", names, "2")
	server.says(reply(ids[1], `{"again":1}`)) // makes no room
	g.quiet()
	server.says(`{"jsonrpc":"2.0","id":`+more[0]+`,"error":{"code":1,"message":"no"}}`, reply(ids[0], "{}"))
	names, ids = numbered(t, server.hears())
	checkList(t, "when all are answered", names, "3", "4")
	client.hears()
	server.says(reply(ids[0], "{}"), reply(ids[1], "{}"))
	client.wants(reply("3", "{}"), reply("4", "{}"))
	client.says(callNumber(6), callNumber(7), callNumber(8))
	if names, _ := numbered(t, server.hears()); len(names) != 2 {
		t.Errorf("of an idle server %q are called at once, want two", names)
	}
}

// What has waited goes out as it would have gone out at once.
func TestACallThatHasWaitedIsPassedOnVerbatim(t *testing.T) {
	_, client, server := gated(t, 1)
	first := open(client, server, "1")
	client.says(`{"jsonrpc":"2.0","id":"\u0032", "method":"tools/call","params":{"arguments":{ "a":1.0 },"_meta":{"progressToken":"p"},"name":"ns_a_b_c`+"\"}}",
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{ "arguments":{ "a":1.0,"name":"ns_echo" },"_meta":{"progressToken":"p"},"name":"ns_echo"}}`)
	client.hears() // the first of the two is unknown
	server.says(fmt.Sprintf(progressFrame, first), reply(first, "{}"))
	client.hears()
	got := server.hearsOne()
	id := idOf(t, got)
	if want := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{ "arguments":{ "a":1.0,"name":"ns_echo" },"_meta":{"progressToken":` + id + `},"name":"echo"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	server.says(fmt.Sprintf(progressFrame, id), reply(id, `{"x":1.0}`))
	client.wants(fmt.Sprintf(progressFrame, `"p"`), reply("3", `{"x":1.0}`))
}

func TestOnlyWhatHasAServerDoSomethingIsCounted(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		waits          bool
	}{
		{"tools/call", `"name":"ns_echo"`, true},
		{"resources/read", `"uri":"ns_r://x"`, true},
		{"prompts/get", `"name":"ns_p"`, true},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"ns_p"},"argument":{"name":"a","value":""}`, true},
		{"resources/subscribe", `"uri":"ns_r://x"`, false},
		{"resources/unsubscribe", `"uri":"ns_r://x"`, false},
		{"tasks/get", `"taskId":"t"`, false},
		{"tasks/cancel", `"taskId":"t"`, false},
	} {
		t.Run(tt.method, func(t *testing.T) {
			_, client, server := gated(t, 1)
			client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","task":{}}}`)
			server.says(reply(idOf(t, server.hearsOne()), `{"task":{"taskId":"t","status":"working"}}`))
			client.hears()
			held := open(client, server, "2")
			client.says(`{"jsonrpc":"2.0","id":3,"method":"` + tt.method + `","params":{` + tt.params + `}}`)
			if got := len(server.hears()) == 0; got != tt.waits {
				t.Errorf("waits: %t, want %t", got, tt.waits)
			}
			client.wants()
			server.says(reply(held, "{}"))
			if got := len(server.hears()) == 1; got != tt.waits {
				t.Errorf("goes out when there is room: %t, want %t", got, tt.waits)
			}
		})
	}
}

// Toolman's own requests neither wait nor keep calls waiting.
func TestOwnRequestsAreNotCounted(t *testing.T) {
	_, client, server := gated(t, 1)
	client.says(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"debug"}}`)
	if got := methodsOf(t, server.hears()); !slices.Equal(got, []string{"logging/setLevel"}) {
		t.Errorf("the server was sent %q", got)
	}
	client.hears()
	open(client, server, "1")
	client.says(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"info"}}`)
	server.hearsOne()
}

func TestCallsThatWaitCanBeCancelled(t *testing.T) {
	g, client, server := gated(t, 1)
	first := open(client, server, "0")
	client.says(callNumber(1), callNumber(2), callNumber(2), callNumber(3), fmt.Sprintf(cancelFrame, "1"), fmt.Sprintf(cancelFrame, "2"))
	g.quiet()
	client.says(fmt.Sprintf(cancelFrame, "0"))
	sent := server.hears()
	checkList(t, "sent", methodsOf(t, sent), "notifications/cancelled", "tools/call") // it has room when it knows
	names, ids := numbered(t, sent[1:])
	checkList(t, "the next", names, "2")
	server.says(reply(first, `"late"`), reply(ids[0], "{}"))
	client.wants(reply("2", "{}"))
	names, _ = numbered(t, server.hears())
	checkList(t, "the last", names, "3")
}

func TestTimeSpentWaitingCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.most, o.timeout = 1, 10*time.Second
		_, client, server := one(t, o)
		first := open(client, server, "1")
		time.Sleep(2 * time.Second)
		client.says(callNumber(2)) // until 12 s
		time.Sleep(time.Second)
		client.says(callNumber(3)) // until 13 s
		time.Sleep(7*time.Second - 1)
		synctest.Wait()
		client.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		checkGivenUp(t, client, &link{t: t, heard: server.hears()[:1]}, "1", first)
		time.Sleep(2*time.Second + time.Millisecond) // 12 s: the second was passed on at 10 s
		synctest.Wait()
		if got := refusalOf(t, client.hearsOne(), mcpwire.ToolsCall, 0); !strings.Contains(got, "did not answer within 10s (call_timeout)") {
			t.Errorf("the second is told %q", got)
		}
		sent := server.hears()
		names, ids := numbered(t, sent[1:])
		checkList(t, "after the second", names, "3")
		server.says(reply(ids[0], "{}"))
		client.wants(reply("3", "{}"))
	})
}

func TestACallThatWaitsTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.most, o.timeout = 1, 10*time.Second
		_, client, server := one(t, o)
		server.u.Calls.Hold()
		client.says(callNumber(1))
		time.Sleep(4 * time.Second)
		client.says(callNumber(2))
		time.Sleep(6*time.Second - 1)
		synctest.Wait()
		client.wants()
		for _, id := range []string{"1", "2"} {
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			frame := client.hearsOne()
			if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); got != "this call has waited 10s (call_timeout) for its turn at server ns, which has 1 calls under way, as many as it may have (max_concurrent_calls); it was not passed on" || idOf(t, frame) != id {
				t.Errorf("got %q in %s", got, frame)
			}
			time.Sleep(4 * time.Second)
		}
		server.wants()
	})
}

func TestAServerThatDiesAnswersWhatWaits(t *testing.T) {
	g, client, server := gated(t, 1)
	open(client, server, "0")
	client.says(callNumber(1), callNumber(2))
	server.dies()
	var ids []string
	for _, frame := range client.hears()[:3] {
		ids = append(ids, idOf(t, frame))
		if text := refusalOf(t, frame, mcpwire.ToolsCall, 0); !strings.Contains(text, "server ns is gone (it ended with exit status 3)") {
			t.Errorf("told %q", text)
		}
	}
	checkList(t, "answered", ids, "0", "1", "2")
	g.quiet()
	if n := g.s.Pending(); n != 0 {
		t.Errorf("%d are pending", n)
	}
	// One that was on its way when the server died does not wait for ever.
	u := server.u
	c := calls.Call{Caller: g.s, Method: mcpwire.ToolsCall}
	m := scanned(t, callNumber(3))
	c.Keep(m, jsonrpc.Span{})
	var out peer.Outgoing
	u.Calls.Submit(m, &out, &c, jsonrpc.Span{}, "echo")
	out.Flush()
	if text := refusalOf(t, client.hearsOne(), mcpwire.ToolsCall, 0); !strings.Contains(text, "server ns is gone") {
		t.Errorf("told %q", text)
	}
}

func TestWhatWaitsIsBounded(t *testing.T) {
	refused := func(t *testing.T, frame string) {
		t.Helper()
		want := "server ns has 1 calls under way, as many as it may have (max_concurrent_calls), and too many wait for their turn; this one was not passed on: try again when some of them are answered"
		if got := refusalOf(t, frame, mcpwire.ToolsCall, 0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	t.Run("in number", func(t *testing.T) {
		_, client, server := gated(t, 1)
		id := open(client, server, "0")
		for i := range limiter.MaxQueued {
			client.says(callNumber(i + 1))
		}
		refused(t, client.asks(callNumber(-1)))
		server.says(reply(id, "{}"))
		client.hears()
		server.hears()
		client.says(callNumber(-2))
		client.wants()
		refused(t, client.asks(callNumber(-3)))
	})
	t.Run("in bytes", func(t *testing.T) {
		_, client, server := gated(t, 1)
		open(client, server, "0")
		large := fmt.Sprintf(echo, "1", `"`+strings.Repeat("x", (32<<20))+`"`)
		client.says(large)
		client.wants()
		refused(t, client.asks(large))
		client.says(callNumber(2))
		client.wants()
	})
}

func TestACallThatCannotBeWrittenMakesRoom(t *testing.T) {
	_, client, server := gated(t, 1)
	id := open(client, server, "0")
	client.says(callNumber(1), callNumber(2))
	server.refuses = jsonrpc.ErrQueueFull
	server.says(reply(id, "{}"))
	got := client.hears()
	if len(got) != 3 {
		t.Fatalf("the client was sent %q", got)
	}
	for _, frame := range got[:2] {
		if text := refusalOf(t, frame, mcpwire.ToolsCall, 0); !strings.Contains(text, "does not read what it is sent") {
			t.Errorf("told %q", text)
		}
	}
	server.refuses = nil
	open(client, server, "3")
}

// While its client is asked, a call is not the server's; then it waits like any other.
func TestARoundLeavesItsPlace(t *testing.T) {
	g := newRoundRigWith(t, asksAll, func(o *offer) { o.most = 1 })
	first := open(g.client, g.server, "1")
	g.client.says(callNumber(2))
	g.requires(first, `"inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"`)
	ask := idOf(t, g.client.hearsOne())
	names, ids := numbered(t, g.server.hears())
	checkList(t, "meanwhile", names, "2")
	g.client.says(reply(ask, `{"roots":[]}`))
	g.quiet()
	g.server.says(reply(ids[0], `{"resultType":"complete"}`))
	again := g.server.hearsOne()
	if want := g.retried(idOf(t, again), `"inputResponses":{"r":{"roots":[]}},"requestState":"s",`); again != want {
		t.Errorf("got  %s\nwant %s", again, want)
	}
	g.server.says(reply(idOf(t, again), `{"resultType":"complete"}`))
	g.client.wants(reply("2", "{}"), reply("1", "{}"))
}

func TestTheEndAnswersWhatWaits(t *testing.T) {
	g, client, server := gated(t, 1)
	open(client, server, "0")
	client.says(callNumber(1), callNumber(2))
	g.s.Abandon()
	var ids []string
	for _, frame := range client.hears() {
		ids = append(ids, idOf(t, frame))
	}
	slices.Sort(ids)
	checkList(t, "answered", ids, "0", "1", "2")
	server.wants()
}

// Random calls, answers and cancellations: never more than the limit are open, all are
// served in the order they came, and each is answered once or was cancelled.
func TestHistoriesAtALimiter(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		most := 1 + rng.IntN(4)
		g, client, server := gated(t, most)
		var waiting, within []int
		ids := map[int]string{}
		take := func(list *[]int) (i int) {
			at := rng.IntN(len(*list))
			i = (*list)[at]
			*list = slices.Delete(*list, at, at+1)
			return i
		}
		for i := range 200 {
			var wants []string
			switch n := rng.IntN(10); {
			case n < 5:
				client.says(callNumber(i))
				waiting = append(waiting, i)
			case n < 8 && len(within) > 0:
				one := take(&within)
				server.says(reply(ids[one], fmt.Sprint(one)))
				wants = append(wants, reply(fmt.Sprint(one), fmt.Sprint(one)))
			case n == 8 && len(within) > 0:
				client.says(fmt.Sprintf(cancelFrame, fmt.Sprint(take(&within))))
			case n == 9 && len(waiting) > 0:
				client.says(fmt.Sprintf(cancelFrame, fmt.Sprint(take(&waiting))))
			}
			client.wants(wants...)
			for _, frame := range server.hears() {
				if m := scanned(t, frame); m.Kind == jsonrpc.Request {
					names, theirs := numbered(t, []string{frame})
					if len(waiting) == 0 || names[0] != fmt.Sprint(waiting[0]) {
						t.Fatalf("seed %d: %s is passed on, want the first of %v", seed, names[0], waiting)
					}
					ids[waiting[0]] = theirs[0]
					within, waiting = append(within, waiting[0]), waiting[1:]
				}
			}
			if len(within) > most || len(waiting) > 0 && len(within) < most || server.u.Calls.Counts().Active != len(within) {
				t.Fatalf("seed %d: %d are open and %d wait, with a limit of %d; the limiter counts %d", seed, len(within), len(waiting), most, server.u.Calls.Counts().Active)
			}
		}
		if n := g.s.Pending(); n != len(waiting)+len(within) {
			t.Fatalf("seed %d: %d are pending, want %d", seed, n, len(waiting)+len(within))
		}
	}
}

// Clients share a server's limit, and one that ends leaves its place to the others.
func TestClientsShareALimit(t *testing.T) {
	g, clients := crowd(t, 2, offer{namespace: "ns", tools: []string{"echo"}, most: 1})
	server := g.servers[0]
	open(clients[0], server, "0")
	clients[0].says(callNumber(1))
	clients[1].says(callNumber(2))
	g.quiet()
	clients[0].handler.(*session.Session).End()
	sent := server.hears()
	checkList(t, "sent", methodsOf(t, sent), "notifications/cancelled", "tools/call")
	names, ids := numbered(t, sent[1:])
	checkList(t, "the next", names, "2")
	server.says(reply(ids[0], "{}"))
	clients[1].wants(reply("2", "{}"))
	server.wants()
}

// clientOf adds a client with a credential of its own.
func (g *rig) clientOf(budgets *budget.Budgets, name string) *link {
	who := budget.Principal{Issuer: name}
	l := &link{t: g.t}
	l.handler = g.r.NewSession(l, client.Info{Principal: who, Account: budgets.Open(who)})
	l.initialize("{}")
	l.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	l.hears()
	return l
}

func TestOneClientDoesNotTakeAllPlaces(t *testing.T) {
	g, _ := crowd(t, 1, offer{namespace: "ns", tools: []string{"echo"}, most: 8})
	server, budgets := g.servers[0], budget.New(budget.Limits{}, budget.Limits{})
	greedy, other, third := g.clientOf(budgets, "greedy"), g.clientOf(budgets, "other"), g.clientOf(budgets, "third")
	for i := range limiter.MaxQueued + 6 {
		greedy.says(callNumber(i))
	}
	names, ids := numbered(t, server.hears())
	checkList(t, "the first client's calls", names, "0", "1", "2", "3", "4", "5")
	greedy.says(callNumber(9999))
	if got := refusalOf(t, greedy.hearsOne(), mcpwire.ToolsCall, 0); !strings.Contains(got, "too many wait") {
		t.Errorf("the first client's last call: %s", got)
	}
	other.says(callNumber(100), callNumber(101), callNumber(102))
	names, more := numbered(t, server.hears())
	checkList(t, "the calls of another client", names, "100")
	third.says(callNumber(200))
	names, _ = numbered(t, server.hears())
	checkList(t, "the call of a third one", names, "200")
	server.says(reply(more[0], "{}"))
	names, _ = numbered(t, server.hears())
	checkList(t, "who has the fewest is next", names, "101")
	server.says(reply(ids[0], "{}"), reply(ids[1], "{}"))
	names, _ = numbered(t, server.hears())
	checkList(t, "and then, too", names, "102")
	for _, id := range ids[2:] {
		server.says(reply(id, "{}"))
	}
	names, _ = numbered(t, server.hears())
	checkList(t, "the first client's next calls", names, "6", "7", "8")
	for _, l := range []*link{greedy, other, third} {
		l.handler.(*session.Session).End()
	}
	if has := server.u.Calls.Counts(); has != (limiter.Counts{}) {
		t.Errorf("the limiter has %+v", has)
	}
}

// A few clients that take what they can get, and keep it, leave places to others.
func TestGreedyClientsTogetherDoNotTakeAllPlaces(t *testing.T) {
	g, _ := crowd(t, 1, offer{namespace: "ns", tools: []string{"echo"}, most: 256})
	server, budgets := g.servers[0], budget.New(budget.Limits{}, budget.Limits{})
	for i, want := range []int{192, 48, 12} {
		greedy := g.clientOf(budgets, fmt.Sprint("greedy ", i))
		for i := range 256 {
			greedy.says(callNumber(i))
		}
		if n := len(server.hears()); n > want {
			t.Errorf("the greedy client %d has %d places, want %d at most", i, n, want)
		}
	}
	for i := range 4 {
		g.clientOf(budgets, fmt.Sprint("modest ", i)).says(callNumber(0))
		server.hearsOne()
	}
}

func TestOneClientDoesNotTakeAllThatIsNoCall(t *testing.T) {
	g, _ := crowd(t, 1, offer{namespace: "ns", tools: []string{"echo"}, most: 8})
	server, budgets := g.servers[0], budget.New(budget.Limits{}, budget.Limits{})
	task := func(name string) *link {
		l := g.clientOf(budgets, name)
		l.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","task":{}}}`)
		server.says(reply(idOf(t, server.hearsOne()), `{"task":{"taskId":"`+name+`","status":"working"}}`))
		l.hears()
		return l
	}
	ask := func(l *link, name string, i int) {
		l.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":{"taskId":%q}}`, i, name))
	}
	greedy, other := task("greedy"), task("other")
	for i := range limiter.MaxControl {
		ask(greedy, "greedy", i)
	}
	sent := server.hears()
	if len(sent) != limiter.MaxControl {
		t.Fatalf("%d requests were passed on", len(sent))
	}
	ask(greedy, "greedy", limiter.MaxControl)
	if got := greedy.hearsOne(); !strings.Contains(got, "has 64 open requests of this client") {
		t.Errorf("one more: %s", got)
	}
	ask(other, "other", 1)
	server.hearsOne()
	server.says(reply(idOf(t, sent[0]), "{}"))
	greedy.hears()
	ask(greedy, "greedy", limiter.MaxControl+1)
	server.hearsOne()
}

func TestACancelledCallKeepsItsPlaceFromItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := crowd(t, 1, offer{namespace: "ns", tools: []string{"echo"}, most: 4})
		server, budgets := g.servers[0], budget.New(budget.Limits{}, budget.Limits{})
		server.u.Dial = func(func(string)) (dial.Conn, error) { return nil, nil } // only that it is there matters
		greedy, other := g.clientOf(budgets, "greedy"), g.clientOf(budgets, "other")
		for i := range 3 {
			greedy.says(callNumber(i))
		}
		server.hears()
		for i := range 3 {
			greedy.says(fmt.Sprintf(cancelFrame, fmt.Sprint(i)))
		}
		server.hears() // the cancellations
		greedy.says(callNumber(3))
		server.wants()
		for i := range 3 {
			other.says(callNumber(10 + i))
		}
		names, _ := numbered(t, server.hears())
		checkList(t, "of another client", names, "10", "11", "12")
		time.Sleep(lateAnswerTime - 1)
		synctest.Wait()
		server.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		names, _ = numbered(t, server.hears())
		checkList(t, "then", names, "3")
		greedy.handler.(*session.Session).End()
		other.handler.(*session.Session).End()
		time.Sleep(lateAnswerTime)
	})
}
