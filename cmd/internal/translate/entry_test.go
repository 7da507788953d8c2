package translate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/clients/render"
)

// entryOf returns the only server of a client's file.
func entryOf(t *testing.T, client string, scope clients.Scope, text string) clients.Entry {
	t.Helper()
	c, err := clients.ByName(client)
	if err != nil {
		t.Fatal(err)
	}
	place := clients.Place{OS: "linux", Home: "/home/me", Project: "/src/app", Dir: "/src/app"}
	f, err := c.Target(place, scope)
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Parse([]byte(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	return all[0]
}

func TestServer(t *testing.T) {
	dir := t.TempDir()
	env := filepath.Join(dir, ".env")
	if err := os.WriteFile(env, []byte("# c\nexport PORT=80 # the port\nAPI_KEY='k'\nMODE=\"a # b\"\nGIVEN=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, client string
		scope        clients.Scope
		text         string
		want         string // the block without namespace
		secrets      string // NAME=VALUE
		notes        string
	}{
		{"plain", "claude-code", clients.User, `{"mcpServers":{"x":{"type":"stdio","command":"npx","args":["-y","a b"],"env":{"B":"${B:-1}","A":"x$y"}}}}`,
			`command = "npx" args = ["-y", "a b"] env = { A = "x$y", B = "${B:-1}" }`, "", ""},
		{"secret in env", "claude-code", clients.User, `{"mcpServers":{"x":{"command":"a","env":{"GITHUB_TOKEN":"abc","MODE":"ghp_0123456789abcdef0123","URL":"https://u:pw@h/?a=b"}}}}`,
			`command = "a" args = [] env = { GITHUB_TOKEN = "${GITHUB_TOKEN}", MODE = "${MODE}", URL = "${URL}" }`,
			"GITHUB_TOKEN=abc MODE=ghp_0123456789abcdef0123 URL=https://u:pw@h/?a=b", ""},
		{"secrets in args", "cursor", clients.User, `{"mcpServers":{"my-db":{"command":"npx","args":["--api-key","k1","--token=t1","postgres://u:p@h/d","sk-0123456789abcdef","--header","X-Api-Key: h1","-e","API_KEY","--key-file","/f"]}}}`,
			`command = "npx" args = [ "--api-key", "${MY_DB_API_KEY}", "--token=${MY_DB_TOKEN}", "${MY_DB_URL}", "${MY_DB_TOKEN_2}", "--header", "X-Api-Key: ${MY_DB_API_KEY_2}", "-e", "API_KEY", "--key-file", "/f", ]`,
			"MY_DB_API_KEY=k1 MY_DB_TOKEN=t1 MY_DB_URL=postgres://u:p@h/d MY_DB_TOKEN_2=sk-0123456789abcdef MY_DB_API_KEY_2=h1", ""},
		{"remote", "claude-code", clients.User, `{"mcpServers":{"x":{"type":"http","url":"https://h/mcp","headers":{"Authorization":"Bearer abc","X-Mode":"m"}}}}`,
			`url = "https://h/mcp" headers = { Authorization = "Bearer ${X_TOKEN}", X-Mode = "m" }`, "X_TOKEN=abc", ""},
		{"secret in the URL", "windsurf", clients.User, `{"mcpServers":{"x":{"serverUrl":"https://h/mcp?api_key=abc"}}}`, `url = "${X_URL}"`, "X_URL=https://h/mcp?api_key=abc", ""},
		{"reference in a secret", "vscode", clients.User, `{"servers":{"x":{"command":"a","env":{"API_KEY":"${env:API_KEY}","B":"${input:the-key}"}}}}`,
			`command = "a" args = [] env = { API_KEY = "${API_KEY}", B = "${THE_KEY}" }`, "", "THE_KEY is what the client asks for as ${input:the-key}"},
		{"envFile", "cursor", clients.Project, `{"mcpServers":{"x":{"command":"a","env":{"GIVEN":"env"},"envFile":"` + filepath.ToSlash(env) + `"}}}`,
			`command = "a" args = [] env = { GIVEN = "env", PORT = "80", API_KEY = "${API_KEY}", MODE = "a # b" }`, "API_KEY=k@.env", ""},
		{"Codex", "codex", clients.User, "[mcp_servers.x]\ncommand = \"a\"\nenv_vars = [\"API_KEY\", \"MODE\"]\nenv = { X = \"${Y}\" }\ncwd = \"d\"\nrequired = true\nenabled_tools = [\"a\"]\n",
			`command = "a" args = [] cwd = ` + render.TOMLString(filepath.FromSlash("/home/me/d")) + ` env = { X = "$${Y}", API_KEY = "${API_KEY}", MODE = "${MODE:-}" }`, "", "enabled_tools is not carried over"},
		{"Codex remote", "codex", clients.User, "[mcp_servers.x]\nurl = \"https://h/mcp\"\nbearer_token_env_var = \"T\"\nenv_http_headers = { X-A = \"B\" }\n",
			`url = "https://h/mcp" headers = { Authorization = "Bearer ${T}", X-A = "${B}" }`, "", ""},
		{"command line", "cursor", clients.User, `{"mcpServers":{"x":{"command":"npx -y pkg"}}}`, `command = "npx" args = ["-y", "pkg"]`, "", ""},
		{"relative in a project", "claude-code", clients.Project, `{"mcpServers":{"x":{"command":"node","args":["./server.js"]}}}`, `command = "node" args = ["./server.js"] cwd = "."`, "", ""},
		{"OpenCode", "opencode", clients.User, `{"mcp":{"x":{"type":"local","command":["npx","-y","{env:PKG}"],"environment":{"T":"{file:~/t}"}}}}`,
			`command = "npx" args = ["-y", "${PKG:-}"] env = { T = "${file:~/t}" }`, "", ""},
		{"Goose", "goose", clients.User, "extensions:\n  x:\n    type: stdio\n    cmd: a\n    args: []\n    envs: {}\n    env_keys: [API_KEY]\n    enabled: true\n", `command = "a" args = [] env = { API_KEY = "${API_KEY}" }`, "", "keyring"},
	} {
		e := entryOf(t, tt.client, tt.scope, tt.text)
		got, err := Server(e, Context{OS: "linux", Project: "/src/app", Dir: filepath.Dir(e.File.Path), Home: "/home/me"}, e.Name, &Variables{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, block, _ := strings.Cut(got.Server.Block(), "\n")
		_, block, _ = strings.Cut(block, "\n")
		if block = strings.Join(strings.Fields(block), " "); block != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, block, tt.want)
		}
		var secrets []string
		for _, s := range got.Secrets {
			one := s.Name + "=" + s.Value
			if s.File != "" {
				one += "@" + filepath.Base(s.File)
			}
			secrets = append(secrets, one)
		}
		if list := strings.Join(secrets, " "); list != tt.secrets {
			t.Errorf("%s: secrets: got %s, want %s", tt.name, list, tt.secrets)
		}
		if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, tt.notes) || tt.notes == "" && notes != "" {
			t.Errorf("%s: notes: got %s, want %s", tt.name, notes, tt.notes)
		}
	}
}

func TestServerThatToolmanCannotHave(t *testing.T) {
	for _, tt := range []struct{ client, text, want string }{
		{"claude-code", `{"mcpServers":{"x":{"type":"ws","url":"wss://h"}}}`, "type"},
		{"claude-code", `{"mcpServers":{"x":{}}}`, "neither a command nor a URL"},
		{"claude-code", `{"mcpServers":{"x":{"type":"http","url":"https://h","oauth":{"clientId":"me"}}}}`, "logs in"},
		{"claude-code", `{"mcpServers":{"x":{"type":"http","url":"https://h","headersHelper":"token.sh"}}}`, "credentials"},
		{"vscode", `{"servers":{"x":{"command":"a","sandboxEnabled":true}}}`, "sandbox"},
		{"vscode", `{"servers":{"x":{"command":"a","args":["${command:pick}"]}}}`, "args: ${command:pick} is known to the client alone"},
		{"vscode", `{"servers":{"x":{"command":"a","envFile":"/no/such"}}}`, "envFile: " + filepath.FromSlash("/no/such") + " cannot be read"},
		{"cursor", `{"mcpServers":{"x":{"command":"a | b"}}}`, "command line"},
		{"cursor", `{"mcpServers":{"x":{"url":"unix:/s"}}}`, "http"},
	} {
		e := entryOf(t, tt.client, clients.User, tt.text)
		if got, err := Server(e, Context{OS: "linux"}, e.Name, &Variables{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestTheSameServerOfTwoClients(t *testing.T) {
	key := func(client, text string) string {
		e := entryOf(t, client, clients.User, text)
		got, err := Server(e, Context{OS: "linux", Home: "/home/me"}, "n", &Variables{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Key()
	}
	one := key("claude-code", `{"mcpServers":{"x":{"command":"npx","args":["-y","p"],"env":{"A":"1","TOKEN":"abc"}}}}`)
	if two := key("opencode", `{"mcp":{"y":{"type":"local","command":["npx","-y","p"],"environment":{"TOKEN":"abc","A":"1"}}}}`); one != two {
		t.Errorf("%q\n%q", one, two)
	}
	for _, text := range []string{
		`{"mcpServers":{"x":{"command":"npx","args":["-y","p"],"env":{"A":"1","TOKEN":"abcd"}}}}`,
		`{"mcpServers":{"x":{"command":"npx","args":["-y p"],"env":{"A":"1","TOKEN":"abc"}}}}`,
		`{"mcpServers":{"x":{"command":"npx","args":["-y","p"],"env":{"B":"1","TOKEN":"abc"}}}}`,
	} {
		if key("cursor", text) == one {
			t.Errorf("%s counts as the same server", text)
		}
	}
}

func TestNamesOfSecrets(t *testing.T) {
	v := &Variables{}
	v.Take("TAKEN")
	for _, tt := range []struct{ want, namespace, value, name string }{
		{"TOKEN", "a", "1", "TOKEN"}, {"TOKEN", "b", "1", "TOKEN"}, {"TOKEN", "a", "2", "A_TOKEN"}, {"TOKEN", "a", "3", "A_TOKEN_2"},
		{"TAKEN", "my-x", "1", "MY_X_TAKEN"},
	} {
		if got := v.Name(tt.want, tt.namespace, tt.value); got != tt.name {
			t.Errorf("%v: got %s", tt, got)
		}
	}
}
