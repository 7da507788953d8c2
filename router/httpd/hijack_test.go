package httpd

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
	"toolman/router/httpd/presence"
)

// counting serves an endpoint and knows how many of its handlers run.
func counting(f *front) (url string, running *atomic.Int64) {
	running = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Add(-1)
		f.e.ServeHTTP(w, r)
	}))
	f.t.Cleanup(srv.Close)
	return srv.URL, running
}

// talker is a server with a tool that has it say something to everybody.
func talker(n int) fakemcp.Spec {
	return echoing(fakemcp.Legacy, map[string][]fakemcp.Step{"tools/call talk": {
		fakemcp.Add("tools/list", fakemcp.Tool("more{{count}}", "came later")), fakemcp.Repeat(n, fakemcp.Notify("notifications/tools/list_changed", "{}")), fakemcp.Answer()}})
}

func TestAnOpenStreamNeedsNoHandler(t *testing.T) {
	var ended atomic.Int64
	ended.Store(-1)
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour, Outlive: func(context.Context) func(int64) { return func(n int64) { ended.Store(n) } }})
	var running *atomic.Int64
	f.url, running = counting(f)
	c := f.initialize("2025-11-25", "{}")
	stream := c.listens()
	await(t, "the handler returns", func() bool { return running.Load() == 0 })
	if got := f.e.hijacked.Load(); got != 1 {
		t.Fatalf("%d streams go on", got)
	}
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for range 2 {
		c.ask(request{body: legacyCall(`1`, "fs_talk", "{}", "")}).text()
		if got := stream.event(); got != changed {
			t.Fatalf("the stream brought %q", got)
		}
	}
	c.ask(request{method: "DELETE"}).wants(204, "", "")
	if rest, err := stream.events.ReadString(0); rest != "" && strings.TrimSpace(rest) != "" || err.Error() != "EOF" {
		t.Errorf("at its end: %q, %v", rest, err)
	}
	await(t, "the end is told", func() bool { return f.e.hijacked.Load() == 0 })
	const each = len("event: message\ndata: " + changed + "\n\n")
	if got := int(ended.Load()); got < 2*each || got > 2*each+40 {
		t.Errorf("%d bytes are told, two events of %d were written", got, each)
	}
}

func TestASubscriptionNeedsNoHandlerAndEndsInGoodOrder(t *testing.T) {
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour})
	var running *atomic.Int64
	f.url, running = counting(f)
	stream := f.do(modern(`"s"`, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, ""))
	if got := stream.event(); !strings.Contains(got, "acknowledged") {
		t.Fatalf("first came %q", got)
	}
	await(t, "the handler returns", func() bool { return running.Load() == 0 })
	f.do(toolCall("1", "fs_talk", "{}", "")).text()
	if got := stream.event(); !strings.Contains(got, "notifications/tools/list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"s"`) {
		t.Fatalf("the stream brought %q", got)
	}
	f.e.EndStreams()
	if got := stream.event(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"s","result":`) {
		t.Errorf("at the end: %q", got)
	}
	if _, err := stream.events.ReadString(0); err.Error() != "EOF" {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestASubscriptionWhoseClientGoesIsCancelled(t *testing.T) {
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour, Options: presence.Options{Idle: time.Second}})
	stream := f.do(modern(`"s"`, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, ""))
	stream.event()
	await(t, "the stream goes on by itself", func() bool { return f.e.hijacked.Load() == 1 })
	stream.Body.Close()
	await(t, "it is over", func() bool { return f.e.hijacked.Load() == 0 })
	await(t, "the session, which has nothing else, ends", func() bool { return f.e.Sessions() == 0 })
}

// The first keep-alive may be due before the stream has left its handler.
func TestASilentStreamIsKeptAliveWithoutItsHandler(t *testing.T) {
	for _, every := range []time.Duration{time.Microsecond, 10 * time.Millisecond} {
		f := newFront(t, talker(1), Options{KeepAlive: every})
		stream := f.initialize("2025-11-25", "{}").listens()
		await(t, "the stream goes on by itself", func() bool { return f.e.hijacked.Load() == 1 })
		for beats := 0; beats < 20; {
			line, err := stream.events.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == ": \n" {
				beats++
			}
		}
	}
}

func TestWhatComesBetweenTwoStreamsIsHeardOnTheSecond(t *testing.T) {
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour})
	c := f.initialize("2025-11-25", "{}")
	first := c.listens()
	await(t, "the stream goes on by itself", func() bool { return f.e.hijacked.Load() == 1 })
	first.Body.Close()
	await(t, "the first is over", func() bool { return f.e.hijacked.Load() == 0 })
	c.ask(request{body: legacyCall(`1`, "fs_talk", "{}", "")}).text()
	if got := c.listens().event(); !strings.Contains(got, "list_changed") {
		t.Errorf("the second stream brought %q", got)
	}
}

func TestStreamsOfHTTP2StayWithTheirHandlers(t *testing.T) {
	f := newFront(t, talker(1), Options{})
	srv := httptest.NewUnstartedServer(f.e)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	c := f.initialize("2025-11-25", "{}")
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", httpheader.EventStream)
	r.Header.Set("Mcp-Session-Id", c.id)
	response, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	c.ask(request{body: legacyCall(`1`, "fs_talk", "{}", "")}).text()
	stream := &reply{Response: response, t: t, events: bufio.NewReader(response.Body)}
	if got := stream.event(); response.ProtoMajor != 2 || !strings.Contains(got, "list_changed") || f.e.hijacked.Load() != 0 {
		t.Errorf("over %s came %q, and %d streams go on without handlers", response.Proto, got, f.e.hijacked.Load())
	}
}
