package diagnosis

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

// gone returns a server that is gone.
func gone(problem, stderr string, argv ...string) *Server {
	return &Server{
		Server: &config.Server{Name: "s", Namespace: "s", Line: 7, Argv: argv, Era: "auto", StartTimeout: 10 * time.Second},
		Status: upstream.Status{Name: "s", State: upstream.Gone, Problem: problem, Stderr: stderr, StartTimeout: 10 * time.Second, Patience: time.Minute},
		File:   "/p/tools.toml",
	}
}

func npx(stderr string) *Server {
	return gone("it ended with exit status 1", stderr, "npx", "-y", "@scope/server@1.2")
}

func remote(problem string, header http.Header) *Server {
	s := gone("initialize: https://x/mcp: "+problem, "")
	s.Remote = &config.Remote{URL: "https://x/mcp", Header: header}
	return s
}

func with(s *Server, change func(*Server)) *Server {
	change(s)
	return s
}

func wantsLogin(s *Server) { s.Status.Login = "toolman login s" }

func TestWhyAServerIsGone(t *testing.T) {
	ended := func(stderr string) *Server { return gone("it ended with exit status 1", stderr, "node", "server.js") }
	for _, tt := range []struct {
		name             string
		of               *Server
		id, summary, fix string
	}{
		{"an unset variable", with(gone("", ""), func(s *Server) {
			s.Missing = []source.Problem{{Line: 9, Msg: "env.X: the variable X is not set", Hint: "set it where toolman is started"}}
		}), "variable-not-set", "env.X: the variable X is not set (/p/tools.toml:9)", "set it where toolman is started"},
		{"a missing file", with(gone("", ""), func(s *Server) {
			s.Missing = []source.Problem{{Line: 9, Msg: `env.X: the file "t" cannot be read: no such file`, Hint: "h"}}
		}), "file-unreadable", `the file "t"`, "h"},
		{"npx", gone(`s: running "npx": not found in its PATH; install it, write its full path, or set PATH in its env: file does not exist`, "", "npx"),
			"program-not-found", "the program npx is not there", "install Node.js"},
		{"uvx", gone(`s: running "uvx": not found in its PATH; install it: file does not exist`, "", "uvx"), "program-not-found", "uvx", "install uv"},
		{"docker", gone(`s: running "docker": not found in its PATH; install it: file does not exist`, "", "docker"), "program-not-found", "docker", "install Docker"},
		{"a path", gone(`s: running "/x/server": no such file; correct the path or install the program: file does not exist`, "", "/x/server"), "program-not-found", "/x/server", "correct the path at /p/tools.toml:7"},
		{"no x bit", gone(`s: running "./server": ./server is not executable; try chmod +x: permission denied`, "", "./server"), "program-not-executable", "./server is not executable", "chmod +x ./server"},
		{"cwd", gone(`s: running "node": its working directory "/x" does not exist; create it or correct cwd: file does not exist`, "", "node"), "directory-missing", `"/x" does not exist`, "correct cwd at /p/tools.toml:7"},
		{"a shebang", gone(`s: running "./s": no such file or directory; the file exists, so the interpreter that its first line names, or its loader, is missing: install it`, "", "./s"), "interpreter-missing", "./s", "install it"},
		{"a shell", ended("/bin/sh: 1: foo-server: not found\n"), "program-not-found", "foo-server", "install it"},
		{"bash", ended("bash: line 1: uvx: command not found\n"), "program-not-found", "uvx", "install uv"},
		{"cmd", ended("'npx' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n"), "program-not-found", "npx", "Node.js"},
		{"no Node", ended("/usr/bin/env: ‘node’: No such file or directory\n"), "node-missing", "Node.js is not there", "install Node.js"},
		{"no Python", ended("/usr/bin/env: 'python3': No such file or directory\n"), "python-missing", "python3", "install Python 3"},
		{"Node is too old", ended("npm WARN EBADENGINE   required: { node: '>=20.18.1' },\nReferenceError: File is not defined\n"), "node-too-old", "20.18.1 or later", "install Node.js 20.18.1"},
		{"Node is too old, in words", ended("This server requires Node.js version 22 or higher.\n"), "node-too-old", "Node.js 22", "node --version"},
		{"Node is too old, by its syntax", ended("SyntaxError: Unexpected token '??='\n"), "node-too-old", "later version", "latest Node.js"},
		{"Python is too old", ended("Because the current Python version (3.9.2) does not satisfy Python>=3.11 and\n"), "python-too-old", ">=3.11", "uvx --python"},
		{"no package", npx("npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x\n"), "package-not-found", "npm has no package @scope/server@1.2", "correct the name at /p/tools.toml:7"},
		{"no version", npx("npm ERR! code ETARGET\nnpm ERR! notarget No matching version found\n"), "package-not-found", "no such version", "npm view @scope/server versions"},
		{"no registry", npx("npm error code ENOTFOUND\nnpm error errno ENOTFOUND\nnpm error network request failed\n"), "registry-unreachable", "ENOTFOUND", "proxy"},
		{"no registry for uv", gone("it ended with exit status 2", "error: Failed to fetch: `https://index/simple/x/`\n  Caused by: dns error: failed to lookup address\n", "uvx", "x"), "registry-unreachable", "dns error", "HTTPS_PROXY"},
		{"no Python package", gone("it ended with exit status 1", "  × No solution found when resolving tool dependencies:\n  ╰─▶ Because nosuch was not found in the package registry and you require\n", "uvx", "nosuch"), "package-not-found", "nosuch", "uvx nosuch"},
		{"nothing to run", npx("npm error could not determine executable to run\n"), "package-without-program", "@scope/server@1.2", "npx -y --package"},
		{"a token", ended("Error: GITHUB_TOKEN is required\n    at main (index.js:1)\n"), "token-missing", "it wants GITHUB_TOKEN", `write env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" } into the server at /p/tools.toml:7`},
		{"two", ended("Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables\n"), "token-missing", "SLACK_BOT_TOKEN and SLACK_TEAM_ID", `SLACK_TEAM_ID = "${SLACK_TEAM_ID}"`},
		{"one of two", ended("Error: An API key is required via --key, A_API_KEY, --key-file, or A_API_KEY_FILE.\n"), "token-missing", "it wants A_API_KEY or A_API_KEY_FILE: ", `set A_API_KEY where toolman is started, and write env = { A_API_KEY = "${A_API_KEY}" } into`},
		{"the end of how it is used", ended("Options:\n  --host <host>  a host\n\nEnvironment variables:\n  A_ACCESS_TOKEN   alternative to --access-token\n  A_HOST   a host\nExamples:\n  a --access-token=TOKEN\n"), "token-missing", "it wants A_ACCESS_TOKEN: A_ACCESS_TOKEN   alternative", `A_ACCESS_TOKEN = "${A_ACCESS_TOKEN}"`},
		{"how it is used, without credentials", ended("Environment variables:\n  A_HOST   a host\n"), "ended", "a host", "in a terminal"},
		{"in JSON", with(ended("Error: GITHUB_TOKEN is required\n"), func(s *Server) { s.File = "t.json" }), "token-missing", "GITHUB_TOKEN", `write "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}" }`},
		{"one that is given", with(ended("GITHUB_TOKEN is required"), func(s *Server) { s.Env = []string{"GITHUB_TOKEN="} }), "token-missing", "GITHUB_TOKEN", "check the values of env"},
		{"of Python", ended("KeyError: 'OPENAI_API_KEY'\n"), "token-missing", "OPENAI_API_KEY", "OPENAI_API_KEY"},
		{"a variable", ended("Missing required environment variable: DATABASE_URL\n"), "variable-missing", "DATABASE_URL", "DATABASE_URL"},
		{"without a name", ended("Error: no API key provided\n"), "token-missing", "it wants credentials", "documentation"},
		{"arguments", ended("Usage: server [options] <directory>\n"), "arguments-missing", "Usage: server", "add them to the command at /p/tools.toml:7"},
		{"a bad token", ended("Request failed: 401 Bad credentials\n"), "credentials-rejected", "Bad credentials", "renew"},
		{"no module", ended("Error: Cannot find module '/x/dist/index.js'\n"), "file-not-found", "/x/dist/index.js", "build the server"},
		{"no dependency", ended("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /x\n"), "module-missing", "zod", "npm install"},
		{"no folder", ended("Error: None of the specified directories are accessible\n"), "path-not-found", "None of the specified", "correct the command"},
		{"no repository", ended("ERROR:git.server:/x/nowhere does not exist\n"), "path-not-found", "/x/nowhere does not exist", "correct the command"},
		{"no item", ended("Error: the project x does not exist\n"), "ended", "the project x does not exist", "in a terminal"},
		{"no database", ended("Error: ENOENT: no such file or directory, open '/x/db'\n    at a\n"), "path-not-found", "open '/x/db'", "create it"},
		{"no docker", ended("docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n"), "docker-not-running", "Docker", "start"},
		{"no image", ended("docker: Error response from daemon: pull access denied for mcp/nosuch, repository does not exist\n"), "image-not-found", "mcp/nosuch", "docker pull"},
		{"memory", ended("FATAL ERROR: Reached heap limit - JavaScript heap out of memory\n"), "out-of-memory", "memory", "NODE_OPTIONS"},
		{"a port", ended("Error: listen EADDRINUSE: address already in use :::3000\n"), "address-in-use", "port", "end the other"},
		{"an exit code", gone("it ended with exit status 3", "first\nlast words\n\n", "x"), "ended", "it ended with exit status 3; it last wrote: last words", "in a terminal"},
		{"at once", gone("it ended with exit status 0", "", "x"), "ended-at-once", "exit status 0", "stdio"},
		{"a signal", gone("it was killed by signal 9", "", "x"), "killed", "killed", "dmesg"},
		{"what is no server", with(gone("it ended with exit status 1", "", "x"), func(s *Server) { s.Status.Junk = 12 }), "not-mcp", "12 lines", "starts an MCP server"},
		{"too slow", gone("initialize: no answer within 1m0s, 6 times its start_timeout", "", "x"), "start-too-slow", "wrote nothing", `write start_timeout = "35s"`},
		{"too slow with npx", gone("initialize: no answer within 1m0s, 6 times its start_timeout", "", "npx", "-y", "pkg"), "start-too-slow", "wrote nothing", "pkg may still be on its way"},
		{"too slow without a start_timeout", with(gone("initialize: no answer within 3m0s; set its start_timeout to give it more time", "", "npx", "-y", "pkg"), func(s *Server) { s.Status.Patience = 3 * time.Minute }), "start-too-slow", "within 3m0s", `write start_timeout = "95s"`},
		{"modern only by the file", with(gone("server/discover: method not found (error -32601)", "", "x"), func(s *Server) { s.Era = "modern" }), "wrong-era", "era is modern", `write era = "auto"`},
		{"legacy only by the file", with(gone("initialize: method not found (error -32601)", "", "x"), func(s *Server) { s.Era = "legacy" }), "wrong-era", "era is legacy", `write era = "auto"`},
		{"a bad answer to discover", gone("server/discover: invalid result", "", "x"), "wrong-era", "server/discover", `write era = "legacy"`},
		{"an unknown revision", gone(`initialize: the server speaks revision "1999", which toolman does not support`, "", "x"), "revision-unknown", "1999", "update"},
		{"a token for a url", with(remote("it requires credentials, or has rejected them (401 Unauthorized); give them in headers, or", nil), wantsLogin), "token-missing", "401", `write headers = { Authorization = "Bearer ${TOKEN}" }`},
		{"a login", with(remote("it needs a login, which a person makes: run toolman login s", nil), wantsLogin), "login-required", "login", "run toolman login s"},
		{"an old token", remote("the server requires credentials, or has rejected them (401 Unauthorized)", http.Header{"Authorization": {"Bearer x"}}), "credentials-rejected", "401", "renew"},
		{"a token file", with(remote("the authorization server at https://as gives no token (invalid_grant); check token_url", nil), func(s *Server) { s.Remote.OAuth = &config.OAuth{TokenFile: "/p/token.json"} }),
			"credentials-rejected", "invalid_grant", "write a new token into /p/token.json"},
		{"client credentials", with(remote("the authorization server at https://as gives no token (invalid_client); check token_url", nil), func(s *Server) { s.Remote.OAuth = &config.OAuth{TokenURL: "https://as/token"} }),
			"credentials-rejected", "invalid_client", "oauth at /p/tools.toml:7"},
		{"an authorization server that is away", with(remote("the authorization server at https://as gives no token: connection refused", nil), func(s *Server) { s.Remote.OAuth = &config.OAuth{TokenURL: "https://as/token"} }),
			"unreachable", "connection refused", "HTTPS_PROXY"},
		{"too few rights", remote("the server denies access (403 Forbidden)", nil), "access-denied", "403", "more rights"},
		{"another page", remote("there is no MCP server at this URL (404 Not Found)", nil), "wrong-url", "404", "/mcp"},
		{"a web page", remote("the server responds with a web page instead of application/json or text/event-stream", nil), "wrong-url", "web page", "url at /p/tools.toml:7"},
		{"nobody", remote("connection refused", nil), "unreachable", "connection refused", "HTTPS_PROXY"},
		{"a busy one", remote("the server or a proxy before it failed (503 Service Unavailable)", nil), "server-busy", "503", "later"},
		{"a proxy", remote("the proxy requires credentials (407 Proxy Authentication Required)", nil), "proxy", "407", "HTTPS_PROXY"},
		{"a certificate", remote("the certificate is not trusted", nil), "certificate", "certificate", "ca_file"},
		{"no socket", with(gone("there is no socket /x", ""), func(s *Server) { s.Socket = "/x" }), "socket-unreachable", "/x", "socket at /p/tools.toml:7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.HasPrefix(tt.id, "program-") {
				t.Skip("SKIPPED on windows: its shells say it in other words")
			}
			all := Of(tt.of)
			if len(all) != 1 {
				t.Fatalf("got %+v", all)
			}
			f := all[0]
			if f.ID != tt.id || f.Server != "s" || f.Level != Problem || !strings.Contains(f.Summary, tt.summary) || !strings.Contains(f.Fix, tt.fix) {
				t.Errorf("got %+v, want %s, %q, %q", f, tt.id, tt.summary, tt.fix)
			}
		})
	}
}

func TestAServerThatWorks(t *testing.T) {
	s := gone("", "", "npx", "pkg")
	s.Status.State, s.Status.Took, s.Status.Result.ProtocolVersion = upstream.Ready, time.Second, mcpwire.Latest
	s.Status.Took = time.Minute
	if all := Of(s); len(all) != 2 || all[0].ID != "offers-nothing" || all[0].Level != Note {
		t.Errorf("without items: %+v", all)
	}
	s.Status.Took = time.Second
	s.Status.Entries[mcpwire.Prompt] = []*catalog.Entry{{}}
	if all := Of(s); all != nil {
		t.Errorf("got %+v", all)
	}
	s.Status.Took, s.Status.Junk, s.Status.Starts = 20*time.Second, 3, 2
	s.Status.Unread[mcpwire.Prompt] = "no answer"
	var ids []string
	for _, f := range Of(s) {
		ids = append(ids, f.ID+" "+string(f.Level))
	}
	if got := strings.Join(ids, ", "); got != "list-unread problem, slow-start note, wrong-era note, stray-output note" {
		t.Errorf("got %s", got)
	}
}

func TestHowNamesGetShorter(t *testing.T) {
	for namespace, want := range map[string]string{"google-drive": `namespace = "gd"`, "filesystem": `namespace = "fi"`, "tm": "shorter names", "x": "shorter names"} {
		s := gone("", "")
		s.Namespace = namespace
		if got := s.shorter(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", namespace, got)
		}
	}
}

func TestTextOfServersIsMadeSafe(t *testing.T) {
	s := gone("it ended with exit status 1", "X_TOKEN is required \x1b[2J\u202e"+strings.Repeat("x", 10_000), "x")
	f := Of(s)[0]
	if strings.ContainsAny(f.Summary, "\x1b\u202e\n") || len(f.Summary) > 1000 {
		t.Errorf("got %q", f.Summary)
	}
}

func TestObjections(t *testing.T) {
	const object = `{"type":"object","properties":{`
	var many strings.Builder
	for i := range mostProperties {
		fmt.Fprintf(&many, `"p%d":{},`, i)
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 18) + `{}` + strings.Repeat(`}}`, 18)
	for _, tt := range []struct{ name, schema, want string }{
		{"a good one", object + `"a":{"type":"string","format":"date-time"},"b":{"$ref":"#/$defs/b"},"c":{"type":"array","items":{}}},"$defs":{"b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		{"a property that is called anyOf", object + `"anyOf":{"type":"string"},"format":{"type":"string"}}}`, ""},
		{"none", `null`, "no object"},
		{"a list", `[]`, "no object"},
		{"no type", `{"properties":{}}`, `no "type"`},
		{"a string", `{"type":"string"}`, `no "type"`},
		{"alternatives at the top", `{"type":"object","anyOf":[{"required":["a"]}]}`, "anyOf at its top"},
		{"a reference to another file", object + `"a":{"$ref":"https://example.com/schema.json"}}}`, "out of the schema"},
		{"a reference to nothing", object + `"a":{"$ref":"#/$defs/none"}}}`, "to nothing"},
		{"an array of anything", object + `"a":{"type":"array"}}}`, "no items"},
		{"a tuple", object + `"a":{"type":"array","items":[{"type":"string"}]}}}`, "items is a list"},
		{"draft 4", object + `"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, "exclusiveMinimum is true"},
		{"a format", object + `"a":{"type":"string","format":"uri"}}}`, "Gemini"},
		{"an unknown type", object + `"a":{"type":"date"}}}`, "a type that JSON Schema does not have"},
		{"a strange name", object + `"a b":{"type":"string"}}}`, "name of a property"},
		{"too deep", deep, "nested more than 16"},
		{"too many", object + many.String() + `"a":{}}}`, "more than 5000 properties"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Objections([]byte(`{"name":"t","inputSchema":` + tt.schema + `}`))
			if (tt.want == "") != (len(got) == 0) || tt.want != "" && !strings.Contains(got[0], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
