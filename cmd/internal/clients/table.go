package clients

import "toolman/cmd/internal/clients/edit"

// user and project are places in JSON files under mcpServers, as most clients have them.
func user(pattern string) place {
	return place{scope: User, pattern: pattern, format: edit.JSON, keys: []string{"mcpServers"}}
}

func project(pattern string) place {
	return place{scope: Project, pattern: pattern, format: edit.JSON, keys: []string{"mcpServers"}}
}

// under returns the place with other keys.
func (pl place) under(keys []string) place {
	pl.keys = keys
	return pl
}

// opencodeKeys is where OpenCode 2 has its servers, which do not have all keys of OpenCode 1.
var opencodeKeys = []string{"mcp", "servers"}

// ofOpenCode returns the place with the keys of both versions of OpenCode.
func (pl place) ofOpenCode() place {
	pl.keys, pl.later = []string{"mcp"}, opencodeKeys
	return pl
}

// on returns the place for one system only.
func (pl place) on(system string) place {
	pl.os = system
	return pl
}

// as returns the place in another format.
func (pl place) as(f edit.Format) place {
	pl.format = f
	return pl
}

// opencodeSchema is what OpenCode adds to a file that does not have it.
const opencodeSchema = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"

// begin returns the place with what a new file begins with.
func (pl place) begin(text string) place {
	pl.create = text
	return pl
}

// All returns all clients, those with the most users first.
func All() []*Client {
	mcpServers, mcp, tomlTable := []string{"mcpServers"}, []string{"mcp"}, []string{"mcp_servers"}
	return []*Client{
		{
			ID: "claude-code", Title: "Claude Code", aliases: []string{"claude"},
			places: []place{
				user("{CLAUDE_CONFIG_DIR:~}/.claude.json"),
				{scope: Local, pattern: "{CLAUDE_CONFIG_DIR:~}/.claude.json", format: edit.JSON, keys: []string{"projects", "*", "mcpServers"}},
				project("{project}/.mcp.json"),
			},
			traces: []string{"{CLAUDE_CONFIG_DIR:~/.claude}"}, programs: []string{"claude"},
			shape: claudeCode,
			CLI:   "claude mcp add-json NAME JSON -s user",

			ProjectNote: "it asks once before it uses a project's .mcp.json",
		},
		{
			ID: "claude-desktop", Title: "Claude Desktop",
			places: []place{
				user("{app}/Claude/claude_desktop_config.json"),
				user("{app}/claude/claude_desktop_config.json").on("linux"),
			},
			traces: []string{"{app}/Claude", "/Applications/Claude.app"},
			shape:  plain,
			Note:   "restart it to have it read the file; it starts servers in a folder of its own (/ on macOS), and without the variables of your shell",
		},
		{
			ID: "cursor", Title: "Cursor", aliases: []string{"cursor-agent"},
			places: []place{user("~/.cursor/mcp.json"), project("{project}/.cursor/mcp.json")},
			traces: []string{"~/.cursor", "/Applications/Cursor.app"}, programs: []string{"cursor", "cursor-agent"},
			shape: typed,
		},
		{
			ID: "vscode", Title: "VS Code", aliases: []string{"code", "vs-code"},
			places: []place{
				user("{app}/Code/User/mcp.json").under([]string{"servers"}),
				project("{project}/.vscode/mcp.json").under([]string{"servers"}),
			},
			traces: []string{"{app}/Code", "/Applications/Visual Studio Code.app"}, programs: []string{"code"},
			shape: typed,
			CLI:   "code --add-mcp NAMED",
		},
		{
			ID: "copilot-cli", Title: "Copilot CLI", aliases: []string{"copilot", "github-copilot-cli"},
			places: []place{
				user("{COPILOT_HOME:~/.copilot}/mcp-config.json"),
				project("{project}/.mcp.json"),
				project("{project}/.github/mcp.json"),
			},
			traces: []string{"{COPILOT_HOME:~/.copilot}"}, programs: []string{"copilot"},
			shape: copilot,
			CLI:   "copilot mcp add NAME -- COMMAND ARGS",

			ProjectNote: "it reads the file in folders that it trusts",
		},
		{
			ID: "codex", Title: "Codex",
			places: []place{
				user("{CODEX_HOME:~/.codex}/config.toml").as(edit.TOML).under(tomlTable),
				project("{project}/.codex/config.toml").as(edit.TOML).under(tomlTable),
			},
			traces: []string{"{CODEX_HOME:~/.codex}"}, programs: []string{"codex"},
			shape: codex,
			CLI:   "codex mcp add NAME -- COMMAND ARGS",
			Note:  "it gives servers only the variables that env_vars names: run install again when tools.toml refers to others",

			ProjectNote: "it reads the file in projects that it trusts",
		},
		{
			ID: "gemini", Title: "Gemini CLI", aliases: []string{"gemini-cli"},
			places: []place{user("~/.gemini/settings.json"), project("{project}/.gemini/settings.json")},
			traces: []string{"~/.gemini/oauth_creds.json", "~/.gemini/tmp"}, programs: []string{"gemini"},
			shape: gemini,
			CLI:   "gemini mcp add NAME -s user COMMAND ARGS",
			Note:  "it gives servers variables that look like secrets only if env names them: run install again when tools.toml refers to others",

			ProjectNote: "it reads the file in folders that it trusts",
		},
		{
			ID: "opencode", Title: "OpenCode",
			places: []place{
				user("{xdg}/opencode/opencode.json").ofOpenCode().begin(opencodeSchema),
				user("{xdg}/opencode/opencode.jsonc").ofOpenCode(),
				project("{project}/opencode.json").ofOpenCode().begin(opencodeSchema),
				project("{project}/opencode.jsonc").ofOpenCode(),
				project("{project}/.opencode/opencode.json").ofOpenCode(),
				project("{project}/.opencode/opencode.jsonc").ofOpenCode(),
			},
			traces: []string{"{xdg}/opencode"}, programs: []string{"opencode"},
			shape: opencode,
		},
		{
			ID: "windsurf", Title: "Windsurf",
			places: []place{user("~/.codeium/windsurf/mcp_config.json"), user("~/.codeium/mcp_config.json")},
			traces: []string{"~/.codeium/windsurf", "/Applications/Windsurf.app"}, programs: []string{"windsurf"},
			shape: plain,
			Note:  "press Refresh in its list of MCP servers",
		},
		{
			ID: "zed", Title: "Zed",
			places: []place{
				user("{xdg}/zed/settings.json").under([]string{"context_servers"}).on("linux"),
				user("~/.config/zed/settings.json").under([]string{"context_servers"}).on("darwin"),
				user("{app}/Zed/settings.json").under([]string{"context_servers"}).on("windows"),
				project("{project}/.zed/settings.json").under([]string{"context_servers"}),
			},
			traces: []string{"{xdg}/zed", "{app}/Zed", "/Applications/Zed.app"}, programs: []string{"zed", "zeditor"},
			shape: zed,
		},
		{
			ID: "goose", Title: "Goose",
			places: []place{
				user("{app}/Block/goose/config/config.yaml").as(edit.YAML).under([]string{"extensions"}).on("windows"),
				user("{xdg}/goose/config.yaml").as(edit.YAML).under([]string{"extensions"}).on("linux"),
				user("~/.config/goose/config.yaml").as(edit.YAML).under([]string{"extensions"}).on("darwin"),
				project("{project}/.goose/config.yaml").as(edit.YAML).under([]string{"extensions"}),
			},
			traces: []string{"{xdg}/goose"}, programs: []string{"goose"},
			shape: goose,
		},
		{
			ID: "antigravity", Title: "Antigravity",
			places: []place{user("~/.gemini/config/mcp_config.json"), user("~/.gemini/antigravity/mcp_config.json")},
			traces: []string{"~/.gemini/antigravity", "~/.antigravity", "/Applications/Antigravity.app"}, programs: []string{"antigravity"},
			shape: plain,
		},
		{
			ID: "cline", Title: "Cline",
			places: []place{
				user("{app}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
				user("{app}/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
				user("{CLINE_DIR:~/.cline}/data/settings/cline_mcp_settings.json"),
			},
			traces:   []string{"{app}/Code/User/globalStorage/saoudrizwan.claude-dev", "{app}/Cursor/User/globalStorage/saoudrizwan.claude-dev", "{CLINE_DIR:~/.cline}"},
			programs: []string{"cline"},
			shape:    cline,
		},
		{
			ID: "kiro", Title: "Kiro",
			places: []place{user("~/.kiro/settings/mcp.json"), project("{project}/.kiro/settings/mcp.json")},
			traces: []string{"~/.kiro"}, programs: []string{"kiro", "kiro-cli"},
			shape: plain,
		},
		{
			ID: "lmstudio", Title: "LM Studio", aliases: []string{"lm-studio"},
			places: []place{user("~/.lmstudio/mcp.json"), user("~/.cache/lm-studio/mcp.json")},
			traces: []string{"~/.lmstudio", "~/.cache/lm-studio"},
			shape:  plain,
		},
		{
			ID: "junie", Title: "Junie",
			places: []place{user("~/.junie/mcp/mcp.json"), project("{project}/.junie/mcp/mcp.json")},
			traces: []string{"~/.junie"},
			shape:  plain,
		},
		{
			ID: "crush", Title: "Crush",
			places: []place{
				user("{local}/crush/crush.json").under(mcp).on("windows"),
				user("{xdg}/crush/crush.json").under(mcp).on("linux"),
				user("{xdg}/crush/crush.json").under(mcp).on("darwin"),
				project("{project}/.crush.json").under(mcp),
				project("{project}/crush.json").under(mcp),
			},
			traces: []string{"{xdg}/crush"}, programs: []string{"crush"},
			shape: typed,
			Note:  "toolman does not read its crushrc, which is a shell script",
		},
		{
			ID: "kilo", Title: "Kilo Code", aliases: []string{"kilocode"},
			places: []place{
				user("{xdg}/kilo/kilo.json").under(mcp),
				user("{xdg}/kilo/kilo.jsonc").under(mcp),
				project("{project}/kilo.json").under(mcp),
				project("{project}/kilo.jsonc").under(mcp),
				project("{project}/.kilo/kilo.json").under(mcp),
				project("{project}/.kilo/kilo.jsonc").under(mcp),
			},
			traces: []string{"{xdg}/kilo"}, programs: []string{"kilo"},
			shape: opencode,
		},
		{
			ID: "kimi", Title: "Kimi Code", aliases: []string{"kimi-code", "kimi-cli"},
			places: []place{
				user("~/.kimi-code/mcp.json"),
				user("~/.kimi/mcp.json"),
				project("{project}/.kimi-code/mcp.json"),
			},
			traces: []string{"~/.kimi-code", "~/.kimi"}, programs: []string{"kimi"},
			shape: plain,
			CLI:   "kimi mcp add NAME -- COMMAND ARGS",
		},
		{
			ID: "grok", Title: "Grok Build",
			places: []place{
				user("~/.grok/config.toml").as(edit.TOML).under(tomlTable),
				project("{project}/.grok/config.toml").as(edit.TOML).under(tomlTable),
			},
			traces: []string{"~/.grok"}, programs: []string{"grok"},
			shape: grok,
			CLI:   "grok mcp add NAME -- COMMAND ARGS",
		},
		{
			ID: "continue", Title: "Continue",
			places: []place{
				{scope: User, pattern: "~/.continue/config.yaml", format: edit.YAML, keys: mcpServers, list: true,
					create: "name: Local Config\nversion: 1.0.0\nschema: v1\n"},
				{scope: User, pattern: "~/.continue/mcpServers/*.json", format: edit.JSON, keys: mcpServers, readOnly: true},
				{scope: User, pattern: "~/.continue/mcpServers/*.yaml", format: edit.YAML, keys: mcpServers, list: true, readOnly: true},
				project("{project}/.continue/mcpServers/toolman.json"),
				{scope: Project, pattern: "{project}/.continue/mcpServers/*.json", format: edit.JSON, keys: mcpServers, readOnly: true},
				{scope: Project, pattern: "{project}/.continue/mcpServers/*.yaml", format: edit.YAML, keys: mcpServers, list: true, readOnly: true},
			},
			traces: []string{"~/.continue"}, programs: []string{"cn"},
			shape: typed,
			Note:  "its command line, cn, reads ~/.continue/config.yaml only",
		},
		{
			ID: "jetbrains", Title: "JetBrains AI Assistant",
			shape: plain,
			Note:  "paste it in Settings, Tools, AI Assistant, Model Context Protocol, Add, As JSON",
		},
	}
}
