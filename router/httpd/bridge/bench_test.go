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
	"toolman/jsonrpc"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/httpd"
	"toolman/spawn"
)

func TestMain(m *testing.M) {
	fakemcp.RunIfAsked()
	os.Exit(m.Run())
}

// BenchmarkCall makes the same call over /mcp and through the bridge, over a socket and to
// a real process.
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
	loop, err := jsonrpc.NewLoop()
	if err != nil {
		b.Fatal(err)
	}
	defer loop.Close()
	globs, err := catalog.CompileGlobs([]string{"*"})
	if err != nil {
		b.Fatal(err)
	}
	r := router.New(router.Options{Active: globs, URISeparator: "_", Servers: []router.Server{{Namespace: "fs", StartTimeout: 20 * time.Second,
		Command: spawn.Command{Argv: []string{self, "fakemcp", "--spec", path}, Env: os.Environ()}}}}, loop, zap.NewNop())
	r.Start(nil)
	r.GreetShared()
	defer r.Close()
	mcp, bridge := httpd.New(r, httpd.Options{}), New(r, Options{})
	defer mcp.Close()
	defer bridge.Close()
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp)
	mux.Handle("/call_tool", bridge)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	b.Run("mcp", func(b *testing.B) {
		benchmarkPOST(b, srv.URL+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_echo","arguments":{"n":1},`+envelope+`}}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "fs_echo")
	})
	b.Run("bridge", func(b *testing.B) {
		benchmarkPOST(b, srv.URL+"/call_tool", `{"server":"fs","tool":"echo","arguments":{"n":1}}`)
	})
}

func benchmarkPOST(b *testing.B, url, body string, headers ...string) {
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		if strings.HasSuffix(url, "/mcp") {
			req.Header.Set("Accept", "application/json, text/event-stream")
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
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
