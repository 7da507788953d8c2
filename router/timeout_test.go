package router

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
)

func TestACallThatTakesTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.timeout = 10 * time.Second
		_, client, server := one(t, o)
		first := open(client, server, `"first"`)
		time.Sleep(4 * time.Second)
		second, answered := open(client, server, "2"), open(client, server, "3")
		server.says(`{"jsonrpc":"2.0","id":` + answered + `,"result":{}}`)
		client.hears()
		time.Sleep(6*time.Second - 1)
		synctest.Wait()
		client.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		checkGivenUp(t, client, server, `"first"`, first)
		time.Sleep(3999 * time.Millisecond)
		synctest.Wait()
		client.wants()
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		checkGivenUp(t, client, server, "2", second)

		server.says(`{"jsonrpc":"2.0","id":`+first+`,"result":"late"}`, fmt.Sprintf(progressFrame, second))
		client.says(fmt.Sprintf(cancelFrame, "2"))
		time.Sleep(time.Hour)
		synctest.Wait()
		client.wants()
		server.wants()

		third := open(client, server, "4") // the watch begins again
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		client.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		checkGivenUp(t, client, server, "4", third)
	})
}

// checkGivenUp checks that one call was given up, and that its server knows.
func checkGivenUp(t *testing.T, client, server *link, id, theirs string) {
	t.Helper()
	frame := client.hearsOne()
	if got, want := refusalOf(t, frame, mcpwire.ToolsCall, 0), "server ns did not answer within 10s (call_timeout); the call was cancelled there"; got != want || idOf(t, frame) != id {
		t.Errorf("%s is told %q, want %s %q", idOf(t, frame), got, id, want)
	}
	server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + theirs + `,"reason":"call_timeout"}}`)
}

func TestManyCallsAreGivenUpTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.timeout = 10 * time.Second
		_, client, server := one(t, o)
		const many = 10_000
		for i := range many {
			client.says(fmt.Sprintf(echo, fmt.Sprint(i), "{}"))
		}
		server.hears()
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		answered := map[string]int{}
		for _, frame := range client.hears() {
			answered[idOf(t, frame)]++
		}
		if len(answered) != many || len(server.hears()) != many || server.u.Calls.Len() != 0 {
			t.Errorf("%d of %d calls were given up", len(answered), many)
		}
	})
}

func TestServersWithoutATimeoutAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.timeout = time.Second
		g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "slow", tools: []string{"x"}}, o)
		g.client.says(callFrame("1", "slow_x", "{}"))
		id := idOf(t, g.servers[0].hearsOne())
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		g.quiet()
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		g.client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

// A death and a timeout do not both answer.
func TestADeadServersCallsDoNotTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, server := one(t, offer{namespace: "ns", tools: []string{"echo"}, timeout: 10 * time.Second})
		open(client, server, "1")
		server.dies()
		client.hears()
		time.Sleep(time.Hour)
		synctest.Wait()
		client.wants()
		server.wants()
	})
}

func TestProgressKeepsACallFromBeingGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := various()
		o.timeout = 10 * time.Second
		_, client, server := one(t, o)
		begin := func(id string) (theirs string) {
			client.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ns_echo","_meta":{"progressToken":` + id + `}}}`)
			return idOf(t, server.hearsOne())
		}
		short, long := begin("1"), begin("2")
		for range 11 { // for 99 s: the last one is 9 s before the end of ten times as long
			time.Sleep(9 * time.Second)
			server.says(fmt.Sprintf(progressFrame, long))
		}
		synctest.Wait()
		if got := len(client.hears()); got != 12 {
			t.Errorf("%d messages have come, want 11 of progress and one that the other call is given up", got)
		}
		server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + short + `,"reason":"call_timeout"}}`)
		time.Sleep(time.Second + 10*time.Millisecond)
		synctest.Wait()
		server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + long + `,"reason":"call_timeout"}}`)
		want := "server ns has sent neither an answer nor progress for 10s (call_timeout), or has taken 10 times as long in all; the call was cancelled there"
		if got := refusalOf(t, client.hearsOne(), mcpwire.ToolsCall, 0); got != want {
			t.Errorf("got %q", got)
		}

		third := begin("3")
		server.says(fmt.Sprintf(progressFrame, third))
		client.hears()
		time.Sleep(9 * time.Second)
		server.says(fmt.Sprintf(progressFrame, third))
		time.Sleep(9999 * time.Millisecond)
		synctest.Wait()
		if got := len(client.hears()); got != 1 {
			t.Errorf("%d messages have come, want 1 of progress", got)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + third + `,"reason":"call_timeout"}}`)
	})
}
