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
	"unsafe"

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
	r.HandshakeShared()
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

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"server":"s","tool":"t","arguments":{"a":[1,"\n"]}}`))
	f.Add([]byte("{\"server\":\"s\",\n\"Server\":\"t\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, wrong := parse(text, "server", "tool", "arguments")
		if wrong != nil {
			return
		}
		if arguments, wrong := p.object("arguments"); wrong == nil && (arguments[0] != '{' || strings.ContainsAny(string(arguments), "\n\r")) {
			t.Errorf("the arguments are %q", arguments)
		}
	})
}

func TestCorrelationIDs(t *testing.T) {
	for said, want := range map[string]string{
		"job-1.2:3/x":            "job-1.2:3/x",
		"a b\n\"c\"<d>\x1b[1mé":  "abcd[1m",
		strings.Repeat("x", 300): strings.Repeat("x", maxCorrelation),
		"\n\t":                   "",
	} {
		if got := plain(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

// The log keeps up to 4,096 correlation ids. None may hold on to the request that it was part of.
func TestACorrelationIDIsACopy(t *testing.T) {
	said := strings.Repeat("x", 1<<20)
	if unsafe.StringData(plain(said)) == unsafe.StringData(said) {
		t.Error("the id is a part of a text of 1 MiB")
	}
}
