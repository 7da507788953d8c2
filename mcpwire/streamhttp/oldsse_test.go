package streamhttp

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// oldServer speaks the transport of 2024-11-05 only.
func oldServer(t *testing.T, endpoint string) (f *fake, hangUp func()) {
	var mu sync.Mutex
	var write func(string)
	gone := make(chan struct{})
	f = serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/sse":
			mu.Lock()
			write = stream(w)
			write("event: endpoint\ndata: " + endpoint + "\n\n")
			mu.Unlock()
			select {
			case <-gone:
			case <-r.Context().Done():
			}
			mu.Lock() // somebody may be writing
			defer mu.Unlock()
		case r.Method == http.MethodPost && r.URL.RequestURI() == "/messages?session=1":
			w.WriteHeader(202)
			if strings.Contains(body, `"method":"never"`) || idOf(body) == "null" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answer := "{}"
			if methodIs(body, "initialize") {
				answer = welcome
			}
			write(data(result(body, answer)))
		default:
			w.WriteHeader(405)
		}
	})
	return f, func() { close(gone) }
}

func TestAServerOfTheOldTransportIsMetThere(t *testing.T) {
	f, hangUp := oldServer(t, "/messages?session=1")
	conn, h := dial(t, Options{URL: f.URL + "/sse"})
	begin(t, conn, h)
	send(t, conn, legacy("2", "tools/list", "{}"))
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	send(t, conn, legacy("3", "never", "{}"))
	for i, want := range []string{"POST /sse", "GET /sse", "POST /messages?session=1", "POST /messages?session=1", "POST /messages?session=1", "POST /messages?session=1"} {
		if r := f.heard(t); r.Method+" "+r.URL != want {
			t.Fatalf("request %d was %s %s, want %s", i, r.Method, r.URL, want)
		}
	}
	hangUp()
	if text := problem(t, h.next()); !strings.Contains(text, "the server has closed its stream") {
		t.Error(text)
	}
	if err := <-h.closed; err == nil {
		t.Error("no reason is given")
	}
}

func TestTheOldTransportDoesNotLeadElsewhere(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {})
	f, _ := oldServer(t, other.URL+"/messages?session=1")
	conn, h := dial(t, Options{URL: f.URL + "/sse"})
	send(t, conn, hello)
	if text := problem(t, h.next()); !strings.Contains(text, "no MCP server at this URL (405") {
		t.Error(text)
	}
	other.silent(t)
}

func TestAModernServersRefusalIsNoReasonToLookForAnOldOne(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 400, refusal) })
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, hello)
	h.want(refusal)
	f.heard(t)
	f.silent(t)
}
