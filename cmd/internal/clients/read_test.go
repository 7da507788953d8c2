package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// show writes an entry in one line.
func show(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s:", e.Line, e.Name)
	add := func(key string, value any, zero bool) {
		if !zero {
			fmt.Fprintf(&b, " %s=%v", key, value)
		}
	}
	add("type", e.Type, e.Type == "")
	add("command", e.Command, e.Command == "")
	add("args", e.Args, e.Args == nil)
	add("env", e.Env, e.Env == nil)
	add("names", e.EnvNames, e.EnvNames == nil)
	add("file", e.EnvFile, e.EnvFile == "")
	add("cwd", e.Cwd, e.Cwd == "")
	add("url", e.URL, e.URL == "")
	add("headers", e.Headers, e.Headers == nil)
	add("headerenv", e.HeaderEnv, e.HeaderEnv == nil)
	add("disabled", true, !e.Disabled)
	add("unknown", e.Unknown, e.Unknown == nil)
	add("toolman", true, !e.IsToolman)
	return b.String()
}

// fileOf returns the first file of a client in a scope.
func fileOf(t *testing.T, id string, scope Scope) File {
	t.Helper()
	c, err := ByName(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files(Place{OS: "linux", Home: "/h", Project: "/p"}) {
		if f.Scope == scope {
			return f
		}
	}
	t.Fatalf("%s has no %s file", id, scope)
	return File{}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, client string
		scope        Scope
		text, want   string
	}{
		{"claude", "claude-code", User, `{
  "numStartups": 3,
  "mcpServers": {
    "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {"B": "2", "A": "${X:-y}"}},
    "web": {"type": "http", "url": "https://x.test/mcp", "headers": {"Authorization": "Bearer t"}},
    "toolman": {"type": "stdio", "command": "/opt/toolman", "args": ["--config", "/t.toml"], "alwaysLoad": true}
  },
  "projects": {"/p": {"mcpServers": {"here": {"command": "h"}}}}
}`, `4 git: type=stdio command=uvx args=[mcp-server-git] env=[{B 2} {A ${X:-y}}]
5 web: type=http url=https://x.test/mcp headers=[{Authorization Bearer t}]
6 toolman: type=stdio command=/opt/toolman args=[--config /t.toml] unknown=[alwaysLoad] toolman=true`},
		{"local", "claude-code", Local, `{"mcpServers": {"u": {"command": "u"}},
"projects": {"/other": {"mcpServers": {"o": {"command": "o"}}},
  "/p": {"mcpServers": {"here": {"command": "h"}}}}}`, `3 here: command=h`},
		{"comments, trailing commas, a byte order mark and CRLF", "vscode", Project, "\xef\xbb\xbf{\r\n  // servers\r\n  \"servers\": {\r\n    /* one */ \"a\": {\"command\": \"x\", \"envFile\": \"${workspaceFolder}/.env\", \"sandboxEnabled\": true,},\r\n  },\r\n} // end", `4 a: command=x file=${workspaceFolder}/.env unknown=[sandboxEnabled]`},
		{"opencode", "opencode", User, `{"mcp": {"a": {"type": "local", "command": ["npx", "-y", "a"], "environment": {"K": "{env:K}"}, "enabled": false, "timeout": 5},
"b": {"type": "remote", "url": "https://b.test"}}}`, `1 a: type=local command=npx args=[-y a] env=[{K {env:K}}] disabled=true unknown=[timeout]
2 b: type=remote url=https://b.test`},
		{"codex", "codex", User, `model = "x"
[mcp_servers.a]
command = "npx"
args = ["-y", "a"]
env_vars = ["TOKEN", {name = "OTHER", source = "remote"}]
required = true
[mcp_servers.a.env]
K = "v"
[mcp_servers.b]
url = "https://b.test"
bearer_token_env_var = "B"
env_http_headers = {X = "XVAR"}
http_headers = {Y = "y"}
enabled = false`, `2 a: command=npx args=[-y a] env=[{K v}] names=[TOKEN OTHER] unknown=[required]
9 b: url=https://b.test headers=[{Y y}] headerenv=[{Authorization Bearer B} {X XVAR}] disabled=true`},
		{"gemini", "gemini", User, `{"mcpServers": {"a": {"httpUrl": "https://a.test", "timeout": 5, "trust": true}, "b": {"url": "https://b.test", "type": "sse"}, "c": {"command": "c", "cwd": "/c"}}}`,
			`1 a: type=http url=https://a.test unknown=[timeout trust]
1 b: type=sse url=https://b.test
1 c: command=c cwd=/c`},
		{"zed", "zed", User, `{"theme": "One", "context_servers": {
  "a": {"source": "custom", "command": "a", "args": ["x"], "env": {}},
  "b": {"command": {"path": "b", "args": ["y"], "env": {"K": "v"}}, "settings": {}},
  "c": {"source": "extension", "enabled": true, "settings": {}},
}}`, `2 a: command=a args=[x]
3 b: command=b args=[y] env=[{K v}] unknown=[settings]
4 c: unknown=[settings]`},
		{"goose", "goose", User, `GOOSE_MODEL: x
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  # mine
  fetch:
    name: Fetch
    cmd: uvx
    args: [mcp-server-fetch]
    envs: {PORT: 8080}
    env_keys:
      - FETCH_KEY
    enabled: false
    type: stdio
    timeout: 300
    bundled: null
  web: {type: streamable_http, uri: "https://w.test", headers: {A: b}}
`, `8 fetch: type=stdio command=uvx args=[mcp-server-fetch] env=[{PORT 8080}] names=[FETCH_KEY] disabled=true unknown=[timeout]
19 web: type=streamable_http url=https://w.test headers=[{A b}]`},
		{"continue", "continue", User, `name: Local
mcpServers:
  - uses: someone/block
  - name: My git
    command: uvx
    args:
      - mcp-server-git
    env: &e
      A: "1"
  - name: other
    command: o
    env: *e
`, `4 My git: command=uvx args=[mcp-server-git] env=[{A 1}]
10 other: command=o env=[{A 1}]`},
		{"npx", "cursor", User, `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "toolman@1.2"]}, "b": {"command": "toolman.exe", "args": ["tap", "b", "--", "x"]}, "c": {"command": "cat", "args": ["toolman"]}}}`,
			`1 a: command=npx args=[-y toolman@1.2] toolman=true
1 b: command=toolman.exe args=[tap b -- x]
1 c: command=cat args=[toolman]`},
		// What the clients' own commands write: claude mcp add of 2.1.197, codex mcp add of 0.169.0,
		// gemini mcp add of 0.61.0, opencode mcp add of 1.18.33, copilot mcp add of 1.0.102.
		{"claude mcp add", "claude-code", User, "{\n  \"numStartups\": 1,\n  \"mcpServers\": {\n    \"tm\": {\n      \"type\": \"stdio\",\n      \"command\": \"toolman\",\n      \"args\": [\n        \"--config\",\n        \"/x/tools.toml\"\n      ],\n      \"env\": {}\n    }\n  }\n}",
			"4 tm: type=stdio command=toolman args=[--config /x/tools.toml] toolman=true"},
		{"codex mcp add", "codex", User, "[mcp_servers.tm]\ncommand = \"toolman\"\nargs = [\"--config\", \"/x/tools.toml\"]\n\n[mcp_servers.tm.env]\nK = \"v\"\n",
			"1 tm: command=toolman args=[--config /x/tools.toml] env=[{K v}] toolman=true"},
		{"gemini mcp add", "gemini", User, "{\n  \"mcpServers\": {\n    \"tm\": {\n      \"command\": \"toolman\",\n      \"args\": [\n        \"--config\",\n        \"/x/tools.toml\"\n      ],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}",
			"3 tm: command=toolman args=[--config /x/tools.toml] env=[{K v}] toolman=true"},
		{"opencode mcp add", "opencode", User, "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"tm\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"toolman\",\n        \"--config\",\n        \"/x/tools.toml\"\n      ],\n      \"environment\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
			"4 tm: type=local command=toolman args=[--config /x/tools.toml] env=[{K v}] toolman=true"},
		{"copilot mcp add", "copilot-cli", User, "{\n  \"mcpServers\": {\n    \"tm\": {\n      \"tools\": [\n        \"*\"\n      ],\n      \"type\": \"local\",\n      \"command\": \"toolman\",\n      \"args\": [\n        \"--config\",\n        \"/x/tools.toml\"\n      ],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
			"3 tm: type=local command=toolman args=[--config /x/tools.toml] env=[{K v}] toolman=true"},
		{"some tools of Copilot", "copilot-cli", User, `{"mcpServers": {"a": {"command": "c", "tools": ["x"]}}}`, "1 a: command=c unknown=[tools]"},
		{"empty", "cursor", User, "", ""},
		{"only a comment", "zed", User, "// nothing yet", ""},
		{"no servers", "cursor", User, "{}", ""},
		{"null", "cursor", User, `{"mcpServers": null}`, ""},
		{"null in YAML", "goose", User, "extensions:\n", ""},
		{"an empty YAML file", "goose", User, "# nothing\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries, err := fileOf(t, test.client, test.scope).Parse([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, e := range entries {
				lines = append(lines, show(e))
			}
			if got := strings.Join(lines, "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	many := `{"mcpServers": {`
	for i := range maxEntries + 1 {
		many += fmt.Sprintf(`"s%d": {}, `, i)
	}
	many += "}}"
	for _, test := range []struct{ name, client, text, want string }{
		{"syntax", "cursor", "{\n  \"mcpServers\": {\n    \"a\": }\n}", ":3: this is not JSON: invalid character '}' at start of value"},
		{"too short", "cursor", "{\n  \"mcpServers\": {\n", ":3: this is not JSON: the text ends too early"},
		{"a secret is not quoted", "cursor", "{\"mcpServers\": {\"a\": {\"env\": {\"T\": sk-secret}}}}", "a value is no valid string"},
		{"an array", "cursor", "[]", ":1: the file is an array where an object is expected"},
		{"servers are a string", "cursor", `{"mcpServers": "x"}`, `:1: "mcpServers" is a string where an object is expected`},
		{"a server is a string", "cursor", "{\"mcpServers\": {\n\"a\": \"x\"}}", `:2: the server "a" is a string where an object is expected`},
		{"a wrong value", "cursor", "{\"mcpServers\": {\n\"a\": {\n\"args\": {}}}}", `:3: server "a": "args" is a table where a list is expected`},
		{"servers twice", "cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `:2: the key "mcpServers" has already been given; keep one of the two`},
		{"a server twice", "cursor", "{\"mcpServers\": {\"a\": {},\n\"a\": {}}}", `:2: the server "a" has already been given; keep one of the two`},
		{"not UTF-8", "cursor", "{\n\"\xff\": 1}", ":2: the text is not UTF-8"},
		{"UTF-16", "cursor", "\xff\xfe{\x00}\x00", ":1: the text is not UTF-8"},
		{"deep", "cursor", strings.Repeat("[", 100_000), ":1: values are nested too deep"},
		{"deep within an entry", "cursor", `{"mcpServers": {"a": {"env": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}}}", ": values are nested too deep"},
		{"many", "cursor", many, ": there are more than 1000 servers"},
		{"TOML", "codex", "[mcp_servers.a]\ncommand = x\n", ":2: this is not TOML"},
		{"YAML", "goose", "extensions:\n  a: [\n", ": this is not YAML"},
		{"YAML that refers to itself", "goose", "extensions: &a\n  x:\n    type: stdio\n    env: *a\n", "nested too deep"},
		{"YAML that grows", "goose", bomb(), "there are more than 100000 values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := fileOf(t, test.client, User)
			_, err := f.Parse([]byte(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), f.Path+":") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("a value is quoted: %v", err)
			}
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	b.WriteString("extensions:\n  x:\n    type: stdio\n    args: *a8\n")
	return b.String()
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	f := fileOf(t, "cursor", User)
	f.Path = filepath.Join(dir, "mcp.json")
	if entries, err := f.Read(); entries != nil || err != nil {
		t.Errorf("no file: %v, %v", entries, err)
	}
	if err := os.Mkdir(f.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), f.Path+": cannot be read: it is not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}
