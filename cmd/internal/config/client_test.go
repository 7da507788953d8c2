package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestServersByName(t *testing.T) {
	for _, format := range []string{"toml", "json"} {
		t.Run(format, func(t *testing.T) {
			c, err := Load(filepath.Join(fixtures, "by-name."+format), testOptions())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range c.Servers {
				line := fmt.Sprintf("%s %s %v %q %q", s.Namespace, s.Name, s.Enabled, s.Argv, s.Env)
				if s.Remote != nil {
					line += fmt.Sprint(s.Remote.URL, " ", s.Remote.Header)
				}
				got = append(got, line)
			}
			want := []string{
				`filesystem filesystem true ["npx" "-y" "@modelcontextprotocol/server-filesystem" "/workspace" "two words" "$HOME" "'quoted' \"too\"" "token-secret" "/srv" "${TOKEN}" "*" "a;b"] []`,
				`github gh true ["gh-server" "token-secret"] ["KEY=token-secret"]`,
				`tracker tracker true [] []https://tracker.example.com/sse map[Authorization:[Bearer token-secret]]`,
				`a.b-c_1 a.b-c_1 false [] []`,
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if s := c.Servers[0]; s.Description != "Official filesystem MCP server with 10+ file operation tools" || s.Line == 0 {
				t.Errorf("%+v", s)
			}
			if !c.Servers[1].Refers["TOKEN"] || c.Servers[0].Refers["env"] {
				t.Errorf("%v refers to %v", c.Servers[1].Name, c.Servers[1].Refers)
			}
			if len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0].String(), "autoApprove is of a client's configuration and is ignored") {
				t.Errorf("warnings %v", c.Warnings)
			}
		})
	}
}

// The blocks are those of the documentation of clients, and of a mission document.
func TestServerBlocksOfClientsWorkAsTheyAre(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Claude Desktop", `{"mcpServers": {"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/My Files"], "env": {"A": "1"}}}}`,
			`filesystem ["npx" "-y" "@modelcontextprotocol/server-filesystem" "/Users/me/My Files"] ["A=1"]`},
		{"Claude Code", `{"mcpServers": {"api": {"type": "http", "url": "${API_BASE_URL:-https://api.example.com}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}`,
			`api https://api.example.com/mcp map[Authorization:[Bearer token-secret]]`},
		{"Claude Code, sse", `{"mcpServers": {"asana": {"type": "sse", "url": "https://mcp.example.com/sse"}}}`, `asana https://mcp.example.com/sse map[]`},
		{"Cursor", `{"mcpServers": {"server-name": {"type": "stdio", "command": "python", "args": ["mcp-server.py", "--key=${env:TOKEN}"], "env": {"API_KEY": "${env:TOKEN}"}}}}`,
			`server-name ["python" "mcp-server.py" "--key=token-secret"] ["API_KEY=token-secret"]`},
		{"VS Code", `{"servers": {"playwright": {"type": "stdio", "command": "npx", "args": ["-y", "@microsoft/mcp-server-playwright"], "gallery": true, "version": "0.0.1", "dev": {"watch": "build/**/*.js"}}}}`,
			`playwright ["npx" "-y" "@microsoft/mcp-server-playwright"] []`},
		{"Cline", `{"mcpServers": {"local-server": {"type": "streamableHttp", "url": "https://x.example.com/mcp", "alwaysAllow": ["tool1"], "disabled": false, "timeout": 60}}}`,
			`local-server https://x.example.com/mcp map[]`},
		{"a mission document", `{"servers": {"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/workspace"], "description": "Official filesystem MCP server with 10+ file operation tools"}}}`,
			`filesystem ["npx" "-y" "@modelcontextprotocol/server-filesystem" "/workspace"] []`},
		{"the same, in an array", `{"servers": [{"namespace": "filesystem", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/workspace"], "description": "Official"}]}`,
			`filesystem ["npx" "-y" "@modelcontextprotocol/server-filesystem" "/workspace"] []`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parse("t.json", "/t.json", []byte(tt.text), testOptions())
			if err != nil {
				t.Fatal(err)
			}
			s := c.Servers[0]
			got := fmt.Sprintf("%s %q %q", s.Namespace, s.Argv, s.Env)
			if s.Remote != nil {
				got = fmt.Sprint(s.Namespace, " ", s.Remote.URL, " ", s.Remote.Header)
			}
			if len(c.Servers) != 1 || got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestServersStandInTheOrderOfTheFile(t *testing.T) {
	text := "[mcpServers.b]\ncommand = 'x'\n[[servers]]\nnamespace = 'c'\ncommand = 'x'\n[mcpServers.a]\ncommand = 'x'\n"
	c, err := parse("t.toml", "/t.toml", []byte(text), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.Servers[0].Name, c.Servers[1].Name, c.Servers[2].Name); got != "bca" {
		t.Errorf("got %s", got)
	}
}
