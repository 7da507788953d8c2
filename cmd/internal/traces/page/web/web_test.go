package web_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/printer"
	"toolman/fixtures/install"
)

// mostBytes is how large the page may be.
const mostBytes = 150 << 10

func npm(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		install.Unavailable(t, "npm is not there: %v", err)
	}
	if err := install.NPM("."); err != nil {
		install.Unavailable(t, "%v", err)
	}
}

// TestBuilt compares the page in dist with what its sources make.
func TestBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it needs npm packages")
	}
	npm(t)
	committed, err := os.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // what is in dist is being embedded
	if err := install.Run(exec.Command("npm", "run", "--silent", "build", "--", dir)); err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(built, committed) {
		t.Errorf("dist/index.html is not what src makes: run npm ci && npm run build in %s", "cmd/internal/traces/page/web")
	}
	if len(built) > mostBytes {
		t.Errorf("the page has %d bytes, more than %d", len(built), mostBytes)
	}
	if err := install.Run(exec.Command("npm", "run", "--silent", "check")); err != nil {
		t.Error(err)
	}
}

// TestModel runs the tests of the page's modules, and gives them traces with the calls that
// toolman trace --json has for them.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it needs npm packages")
	}
	npm(t)
	dir := t.TempDir()
	recorded, err := os.ReadFile("../../printer/testdata/calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, trace := range map[string][]byte{"recorded": recorded, "random": randomTrace(1, 20_000), "tap": tapTrace(), "asks": []byte(asks)} {
		path := filepath.Join(dir, name+".trace")
		if err := os.WriteFile(path, trace, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, problems bytes.Buffer
		if err := printer.Run(context.Background(), printer.Options{File: path, JSON: true}, &out, &problems); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".calls"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "run", "--silent", "test")
	cmd.Env = append(os.Environ(), "TOOLMAN_TRACES="+dir)
	if err := install.Run(cmd); err != nil {
		t.Error(err)
	}
}

// randomTrace returns a trace with calls on one leg and on both, in any order and with every
// outcome, with IDs that are used again, servers that go, and lines that are no records.
func randomTrace(seed uint64, lines int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	pick := func(words ...string) string { return words[rnd.IntN(len(words))] }
	for i := range lines {
		head := func(t string) {
			fmt.Fprintf(&b, `{"v":1,"seq":%d,"t":"%s","ts":"2026-11-21T07:23:13.120000Z","us":%d`, i, t, i*1000+rnd.IntN(900))
		}
		switch n := rnd.IntN(100); {
		case i == 0 || n == 0 && rnd.IntN(50) == 0:
			head("session")
			fmt.Fprintf(&b, `,"run":"r%d","upstreams":[{"ns":"a"},{"ns":"b"}]}`, i)
		case n < 3:
			head("event")
			fmt.Fprintf(&b, `,"peer":"%s","event":"%s","text":"it ended\tso"}`, pick("a", "b"), pick("gone", "stderr", "junk"))
		case n < 4:
			b.WriteString(`{"t":"frame","broken":`)
		default:
			head("frame")
			leg := pick("client", "upstream")
			peer := map[string]string{"client": "me", "upstream": pick("a", "b")}[leg]
			kind := pick("request", "request", "response", "response", "response", "notification", "invalid")
			fmt.Fprintf(&b, `,"leg":"%s","peer":"%s","dir":"%s","kind":"%s"`, leg, peer, pick("in", "out"), kind)
			if kind != "response" {
				fmt.Fprintf(&b, `,"method":"%s"`, pick("tools/call", "tools/list", "notifications/cancelled", "notifications/progress"))
			}
			if rnd.IntN(2) == 0 {
				fmt.Fprintf(&b, `,"name":"%s"`, pick("one", "zwei", "dr\\u0065i"))
			}
			if kind != "notification" {
				fmt.Fprintf(&b, `,"id":%s`, pick("1", "2", `"x"`, `{"msg":1}`))
			}
			if rnd.IntN(3) > 0 {
				fmt.Fprintf(&b, `,"call":"c%d"`, i/20+rnd.IntN(4))
			}
			if kind == "response" {
				fmt.Fprintf(&b, `,"status":"%s"`, pick("ok", "ok", "rpc_error", "tool_error", "local", "late", "timeout"))
				for _, field := range []string{"code", "leg_us", "total_us", "own_us"} {
					if rnd.IntN(2) == 0 {
						fmt.Fprintf(&b, `,"%s":%d`, field, rnd.IntN(100))
					}
				}
				if rnd.IntN(4) == 0 {
					fmt.Fprintf(&b, `,"verdict":"%s","rule":"tools.toml:%d"`, pick("denied", "active"), i)
				}
			}
			fmt.Fprintf(&b, `,"bytes":%d,"msg":%s}`, rnd.IntN(5000), pick(`{}`, `{"error":{"code":1,"message":"no \"way\" \u00fc"}}`,
				`{"result":{"isError":true,"content":[{"type":"text","text":"{\"success\":false,\"error\":\"own\"}"}]}}`,
				`{"result":{"content":[{"text":"x"}],"isError":true}}`, `{"result":{"isError":false}}`))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// asks is a trace in which a server asks a client; its own_us is that of older traces.
const asks = `{"v":1,"seq":1,"t":"frame","us":10,"leg":"upstream","peer":"fs","dir":"in","kind":"request","method":"roots/list","id":1,"call":"c1","bytes":10,"msg":{}}
{"v":1,"seq":2,"t":"frame","us":15,"leg":"client","peer":"ide","dir":"out","kind":"request","method":"roots/list","id":1,"call":"c1","bytes":11,"msg":{}}
{"v":1,"seq":3,"t":"frame","us":2015,"leg":"client","peer":"ide","dir":"in","kind":"response","method":"roots/list","id":1,"call":"c1","status":"ok","leg_us":2000,"bytes":12,"msg":{}}
{"v":1,"seq":4,"t":"frame","us":2020,"leg":"upstream","peer":"fs","dir":"out","kind":"response","method":"roots/list","id":1,"call":"c1","status":"ok","total_us":2010,"own_us":2010,"bytes":13,"msg":{}}
`

// tapTrace returns a trace of a tap: one leg, and a server that asks.
func tapTrace() []byte {
	return []byte(`{"v":1,"seq":0,"t":"session","ts":"2026-11-21T07:23:13.120000Z","us":0,"run":"t","tap":"everything"}
{"v":1,"seq":1,"t":"frame","us":10,"leg":"client","peer":"ide","dir":"in","kind":"request","method":"tools/call","name":"x","id":1,"call":"c1","bytes":10,"msg":{}}
{"v":1,"seq":2,"t":"frame","us":20,"leg":"client","peer":"ide","dir":"out","kind":"request","method":"roots/list","id":1,"call":"c2","bytes":11,"msg":{}}
{"v":1,"seq":3,"t":"frame","us":30,"leg":"client","peer":"ide","dir":"in","kind":"response","method":"roots/list","id":1,"call":"c2","status":"ok","total_us":10,"bytes":12,"msg":{}}
{"v":1,"seq":4,"t":"frame","us":40,"leg":"client","peer":"ide","dir":"out","kind":"response","method":"tools/call","id":1,"call":"c1","status":"ok","total_us":30,"bytes":13,"msg":{}}
`)
}
