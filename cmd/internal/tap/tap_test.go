package tap

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestServerName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my-server")
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem /tmp":             "server-filesystem",
		"npx @scope/pkg@1.2.3":                                            "pkg",
		"/usr/bin/node " + folder + "/dist/index.js --stdio":              "my-server",
		"node --enable-source-maps --import tsx weather.mts":              "weather",
		"python3 -u -m mcp_server_git --repository .":                     "mcp_server_git",
		"uvx --from git+https://example.com/x mcp-server-time":            "mcp-server-time",
		"uv --directory /srv/app run weather.py":                          "weather",
		"uv run --with mcp server_thing":                                  "server_thing",
		"docker run -i --rm -e TOKEN -v /a:/b ghcr.io/org/github-mcp:1.2": "github-mcp",
		"env A=b FOO=c ./bin/server-x":                                    "server-x",
		"cmd /c npx -y thing":                                             "thing",
		"go run ./cmd/weather":                                            "weather",
		`C:\tools\mcp.exe`:                                                "mcp",
		"cat":                                                             "cat",
		"node":                                                            "node",
	} {
		if got := serverName(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := serverName([]string{"sh", "-c", "exec npx thing"}); got != "thing" {
		t.Errorf("a script: %q", got)
	}
}

func TestSecretsOf(t *testing.T) {
	env := []string{"API_KEY=key-1", "HOME=/home/u", "TOKEN_FILE=/x", "DATABASE=postgres://u:pass-2@h/db", "EMPTY_TOKEN="}
	argv := strings.Fields("srv --token tok-3 --api-key=key-4 --verbose -e PASSWORD=pw-5 https://me:pw-6@host/ --key --next")
	got := secretsOf(env, argv)
	slices.Sort(got)
	if want := []string{"key-1", "key-4", "pass-2", "pw-5", "pw-6", "tok-3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
