// Package config reads tools.toml, or JSON with the same keys when the file's name ends in .json, and nothing else.
//
//	active_toolsets = ["fs_read*", "mem*"]   # globs on namespace + "_" + name; nothing is active without them
//	settle_ms = 1000                         # longest wait for a client to list again after an activation
//	catalog_bytes = "auto"                   # or "all", or a number of bytes
//	activation_mode = "auto"                 # or "mutate", "call", "static": how what is switched on reaches the client
//	always_load = "auto"                     # or true, false: whether tools ask clients not to defer them
//	uri_separator = "_"                      # or "+": what stands between a namespace and a resource's URI
//
//	dangerous_tools = ["fs_delete*"]         # names and globs of tools, see package policy
//	confirm = "elicit"                       # or "deny", "allow": what becomes of calls of those
//
//	meta_tools = ["activate"]                # which of toolman's own tools: also "toolsets" and "manage"
//	allow_stale_refs = false                 # true: saved toolsets may use tools that changed since
//	unpinned = ["notes_note://*"]            # names and globs of what tools.lock is not about
//
//	audit_log = "audit.jsonl"                # against this file's folder; without it, there is none
//	audit_arguments = false                  # true: arguments stand in it, and not only their hash
//
//	[toolsets.reading]                       # a name for some tools; toolset:reading in active_toolsets stands for them
//	tools = ["fs_read*", "mem_search"]       # names and globs
//	description = "To look and not to touch"
//
//	[[servers]]
//	namespace = "fs"                         # required; "" leaves the server's names as they are
//	name = "fs"                              # what policies call it; without, the namespace
//	command = "npx -y @modelcontextprotocol/server-filesystem ${PROJECT:-.}"
//	env = { TOKEN = "${file:secrets/token}" }
//	inherit_env = ["PATH", "HOME"]           # names and globs of variables; without it, see Environment
//	cwd = "sub"                              # against this file's folder; without it, where toolman was started
//	start_timeout = "10s"                    # a Go duration or a number of seconds
//	call_timeout = 0                         # without progress; 0: a call may take as long as it likes; with [Options.HTTP], the default is 5m
//	max_concurrent_calls = 0                 # 0: any number; calls beyond it wait for their turn
//	max_message_bytes = 33554432             # 1024 to 1073741824
//	restart = "never"
//	url = "https://example.com/mcp"          # in place of command, env and cwd
//	headers = { Authorization = "Bearer ${TOKEN}" }
//	ca_file = "ca.pem"                       # against this file's folder
//	oauth = { token_url = "https://…", client_id = "…", client_secret = "…", scopes = ["…"] } # or token_file
//	socket = "/run/server.sock"              # in place of command and of url; against this file's folder
//	era = "auto"                             # or "legacy", with initialize, or "modern", without (2026-07-28)
//	enabled = true
//
//	[exposed_tools]                          # names and globs by server, see package policy
//	fs = ["read_*"]
//
//	[agent_policies.NAME]
//	allowed_servers = ["fs"]                 # required; names of servers and globs
//	read_only = false
//	tool_overrides = { fs = ["read_file"] }
//
//	[default_policy]
//	allow_unknown_tools = false
//
//	[[task_rules]]
//	service = ["*-api"]                      # globs; this or keywords, or both
//	keywords = ["test"]
//	tools = { fs = ["write_file"] }          # this or active_toolsets, or both
//	active_toolsets = ["fs_write*"]
//
//	[http]                                   # how it is served over HTTP
//	listen = "127.0.0.1:8900"
//	mode = "dynamic"                         # or "static"
//	allowed_origins = []                     # web pages that may use it: "https://app.example.com"
//	allowed_hosts = []                       # names under which it is reached, besides localhost and its own address; see package guard
//	unauthenticated = "refuse"               # or "anybody-may-connect", to listen beyond loopback without tokens and jwt
//	trusted_proxies = []                     # whose mcp-client-id, mcp-toolset-permissions and X-Forwarded-* count
//	require_client_id = false
//	tls_cert = "server.pem"                  # both or none; read again when they change
//	tls_key = "server.key"
//	max_body_bytes = 16777216                # 1024 to 1073741824
//	max_connections = 16384
//	max_sessions = 10000
//	session_idle = "1h"
//	rate_limit = 0                           # requests a second for each principal; 0: no limit
//	session_config_keys = []                 # keys of ?config= that are taken, for ${session.KEY}
//	bridge_active_only = false               # true: POST /call_tool calls only active tools
//	log_readers = []                         # agents who may read the calls of all agents, and what servers write to MCP_CALL_LOG
//	metrics_readers = []                     # agents who may read /metrics where policies or permissions restrict clients
//	access_log = true
//	drain_notice = "0s"                      # at the end, how long clients are let in after /health has turned
//	drain = "10s"                            # and how long calls under way may take after that
//
//	[http.tokens]                            # agent = a token's hash, or a reference to the token, or several of them
//	reader = "sha256:…"                      # as toolman token prints it
//
//	[http.permissions]                       # clients have the toolsets that they may use, and nothing else
//	source = "config"                        # or "header": mcp-toolset-permissions, which trusted_proxies set
//	agents = { reader = ["reading"] }        # names of toolsets; who is not in it has none
//
//	[http.limits]                            # what one client with a credential can hold
//	bytes = 67108864                         # of bodies, of answers that wait, and of what sessions remember
//	sessions = 256
//	streams = 1024
//	calls = 1024
//	processes = 64
//	connections = 1024
//
//	[http.jwt]
//	issuer = "https://login.example.com"     # required, as are audience and jwks_url
//	audience = "https://mcp.example.com/mcp" # or several
//	jwks_url = "https://login.example.com/jwks.json"
//	algorithms = ["RS256", "ES256"]
//	agent_claim = "sub"                      # the claim that names one of agent_policies
//	scopes = []                              # all of which a token has to have
//
// # References
//
// ${VAR}, ${VAR:-default} and ${file:path} are replaced in command, cwd, url, headers, ca_file, oauth, socket, the values of env and http.tokens. A default stands in for a
// variable that is unset or empty, and may hold references itself. A file is read against the configuration's folder, and
// one line end at its end is dropped. In env and cwd a literal ${ is written $${; in command it is quoted as in any shell:
// '${x}' or \${x}. References in env see toolman's own environment, those in command also the server's env.
//
// ${session.KEY} stands in values of env and headers for what a session says of itself (see [Server.In]), by itself and not within another
// reference. It is refused in commands, which also cannot refer to a variable that env has from one: whoever connects would
// write a part of what is run.
//
// # Environment
//
// A server inherits the variables of toolman's environment (see [Server.Inherits]) without those that begin with TOOLMAN_, and
// without those that only others refer to: another server, with any key, or http. A variable that the server's own table refers to stays, in
// quotes as well, since a shell may read it there. PATH, HOME and their like always stay. inherit_env leaves only what it holds. A name in it is a
// grant also for a variable that other servers refer to, a glob is none; a name that http refers to is an error.
//
// # Commands
//
// A command that is assignments, words, quotes, $VAR, ${VAR}, ${VAR:-default}, ${file:path} and a leading ~ is executed as
// it is, without a shell. What a reference brings in is never read as shell syntax and never split: it stays within its word.
// (As in a shell, an unquoted word of references alone that comes to nothing is left out.) A variable that is not set is an error.
//
// A command with anything else (|, &&, >, ;, $(…), globs, a builtin such as exec) is left to the system's shell, as written,
// with the server's env in its environment. There ${VAR} has to be set when the file is read, $VAR is the shell's own affair,
// and ${file:path} is refused: it belongs in env.
//
// The shell is /bin/sh -c, and cmd /c on Windows, where %VAR% is what cmd expands. The grammar is POSIX's everywhere, in which a
// backslash escapes: a Windows path is written with slashes or in single quotes.
//
// # Strictness
//
// An unknown key, a key given twice and a value of the wrong kind are errors. All problems are reported at once (see
// [Error]), each with its line. No message holds a value from env or from a reference. A server that is not enabled has
// its keys and kinds checked and nothing expanded, so that one may be switched off for want of its token.
//
// Only this package imports a TOML library.
package config
