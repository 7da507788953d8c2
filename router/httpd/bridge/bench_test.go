package bridge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/fakemcp"
	"toolman/jsonrpc/peer"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/spawn"
)

func TestMain(m *testing.M) {
	fakemcp.RunIfAsked()
	os.Exit(m.Run())
}

// BenchmarkCall calls a tool of a real process over a socket.
func BenchmarkCall(b *testing.B) {
	path := filepath.Join(b.TempDir(), "spec.json")
	spec := fakemcp.Spec{Tools: []fakemcp.Raw{`{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`}}
	if err := spec.Save(path); err != nil {
		b.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	loop, err := peer.NewLoop()
	if err != nil {
		b.Fatal(err)
	}
	defer loop.Close()
	globs, err := catalog.CompileGlobs([]string{"*"})
	if err != nil {
		b.Fatal(err)
	}
	r := router.New(router.Options{Active: globs, URISeparator: "_", Servers: []upstream.Server{{Namespace: "fs", StartTimeout: 20 * time.Second,
		Command: spawn.Command{Argv: []string{self, "fakemcp", "--spec", path}, Env: os.Environ()}}}}, loop, zap.NewNop())
	r.Start(nil)
	r.GreetShared()
	defer r.Close()
	bridge := New(r, Options{})
	defer bridge.Close()
	srv := httptest.NewServer(bridge)
	defer srv.Close()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/call_tool", strings.NewReader(`{"server":"fs","tool":"echo","arguments":{"n":1}}`))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"n":1`) {
			b.Fatalf("%d %v %s", res.StatusCode, err, text)
		}
	}
}
