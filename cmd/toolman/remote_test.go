package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aRemote is a server of 2026-07-28 with a tool, and one that must not be used over HTTP. It wants
// a token.
func aRemote(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Authorization") != "Bearer very-secret" || r.URL.Query().Get("key") != "query-secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	const cache = `"ttlMs":0,"cacheScope":"private",`
	result := `{"resultType":"complete",`
	switch method := r.Header.Get("Mcp-Method"); method {
	case "server/discover":
		result += cache + `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"far","version":"7"}}}`
	case "tools/list":
		result += cache + `"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A B"}}}}]}`
	case "tools/call":
		result += `"content":[{"type":"text","text":"called"}]}`
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(404)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, idIn(body))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, idIn(body), result)
}

// idIn is the id in a request of toolman's.
func idIn(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"id":`)
	return rest[:strings.IndexAny(rest, ",}")]
}

// remoteConfig writes a tools.toml with a server.
func remoteConfig(t *testing.T, url, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.toml")
	text := fmt.Sprintf("active_toolsets = [\"*\"]\n[[servers]]\nnamespace = \"far\"\nera = \"modern\"\nurl = %q\n%s\n", url, more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const withToken = `headers = { Authorization = "Bearer ${REMOTE_TOKEN}" }`

func TestCheckShowsARemoteServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(aRemote))
	defer s.Close()
	t.Setenv("REMOTE_TOKEN", "very-secret")
	for name, c := range map[string]struct {
		more string
		ok   bool
		want []string
	}{
		"that is well": {withToken, true, []string{"  far     ready  2026-07-28  modern", "far 7",
			"- server far: tool bad is left out: its x-mcp-header of the parameter a is not a valid header name"}},
		"that wants a token": {"", false, []string{"! far     login", "server far requires credentials, or has rejected them (401 Unauthorized); give them in headers, or",
			"a person runs toolman login far\n", "; or, if the server takes logins, run toolman login far\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stderr, _ := toolman(t, "check", "--config", remoteConfig(t, s.URL+"/mcp?key=query-secret", c.more))
			out, err := cmd.Output()
			if (err == nil) != c.ok {
				t.Errorf("%v\n%s", err, stderr)
			}
			text := string(out) + stderr.String()
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, "secret") {
				t.Errorf("a secret is shown:\n%s", text)
			}
		})
	}
}

func TestTheTraceShowsARemoteServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(aRemote))
	defer s.Close()
	t.Setenv("REMOTE_TOKEN", "very-secret")
	file := filepath.Join(t.TempDir(), "trace")
	cmd, stderr, _ := toolman(t, "--trace", file, "--config", remoteConfig(t, s.URL+"/mcp?key=query-secret", withToken))
	out, err := converse(t, cmd, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"far_good","arguments":{}}}
`)
	if err != nil || !strings.Contains(string(out), `"id":2,"result":{"content":[{"type":"text","text":"called"}]}`) {
		t.Fatalf("%v\n%s\n%s", err, out, stderr)
	}
	trace, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"cmd":"` + s.URL + `/mcp"`, `"event":"spawn","text":"` + s.URL + `/mcp"`, `"method":"tools/call","name":"good"`, "tool bad is left out"} {
		if !strings.Contains(string(trace), want) {
			t.Errorf("there is no %s in\n%s", want, trace)
		}
	}
	if all := string(trace) + stderr.String(); strings.Contains(all, "secret") {
		t.Errorf("a secret is shown:\n%s", all)
	}
}

func TestARemoteServersTokenComesFromItsFile(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(aRemote))
	defer s.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("very-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, stderr, _ := toolman(t, "check", "--config", remoteConfig(t, s.URL+"/mcp?key=query-secret", fmt.Sprintf("oauth = { token_file = %q }", token)))
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, stderr)
	}
}

func TestARemoteServersTokenComesFromItsIssuer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(aRemote))
	defer s.Close()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "me" || secret != "my-password" || r.FormValue("resource") != s.URL+"/mcp" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token":"very-secret","token_type":"Bearer"}`)
	}))
	defer issuer.Close()
	cmd, stderr, _ := toolman(t, "check", "--config", remoteConfig(t, s.URL+"/mcp?key=query-secret",
		fmt.Sprintf("oauth = { token_url = %q, client_id = \"me\", client_secret = \"my-password\" }", issuer.URL+"/token")))
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, stderr)
	}
}
