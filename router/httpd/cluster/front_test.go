package cluster

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// A call that may have been carried out is never sent again, however it is written.
func TestCallsAreNotRepeated(t *testing.T) {
	mcp, programs := Front{}, Front{Bridge: true}
	for body, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:          true,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read"}`:      true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:          false,
		` {"id":1,"method":"tools\/c\u0061ll","jsonrpc":"2.0"}`:   false,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]`:        false,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`:        false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"`:           false,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}{"method":"x"}`:  false,
		`{"jsonrpc":"2.0","method":"ping","method":"tools/call"}`: false,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get"}`:         true,
	} {
		if got := mcp.repeats(httptest.NewRequest(http.MethodPost, "/mcp", nil), []byte(body)); got != want {
			t.Errorf("%s: %t, want %t", body, got, want)
		}
	}
	for path, want := range map[string]bool{"/tools": true, "/call_tool": false, "/execute": false} {
		if got := programs.repeats(httptest.NewRequest(http.MethodPost, path, nil), nil); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// The owners that a replica remembers are bounded, and those in use stay.
func TestOwnersThatAreUsedAreRemembered(t *testing.T) {
	var o owners
	if got := o.get("x"); got != "" {
		t.Errorf("got %q of nothing", got)
	}
	o.set("used", "a")
	name := strconv.Itoa
	for i := range 5 * maxOwners {
		o.set(name(i), "b")
		if i%1000 == 0 && o.get("used") != "a" {
			t.Fatalf("forgotten after %d", i)
		}
	}
	if n := len(o.now) + len(o.old); n > 2*maxOwners+1 {
		t.Errorf("%d owners are remembered", n)
	}
	o.set("used", "c")
	if got := o.get("used"); got != "c" {
		t.Errorf("got %q, want the owner that was set last", got)
	}
	o.forget("used")
	if got := o.get("used"); got != "" {
		t.Errorf("got %q, which is forgotten", got)
	}
}
