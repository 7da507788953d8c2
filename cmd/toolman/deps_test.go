package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packagesOf lists the module's packages as they are built for a system.
func packagesOf(t *testing.T, goos string) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "toolman/...")
	list.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// may says which packages of the module each of these imports. Those that carry
// bytes know nothing of MCP, and what knows MCP does no I/O.
var may = rules(`
cmd/dist: cmd/dist/archive cmd/dist/legal cmd/dist/pack cmd/dist/release
cmd/dist/archive:
cmd/dist/legal: cmd/dist/release
cmd/dist/pack: cmd/dist/archive cmd/dist/release
cmd/dist/release:
cmd/internal/auditlog: router/audit
cmd/internal/changes: cmd/internal/cli cmd/internal/clients/edit cmd/internal/config/source cmd/internal/filechange cmd/internal/store cmd/internal/traces/files
cmd/internal/cli: mcpwire/sanitize router/suggest
cmd/internal/clients: cmd/internal/cli cmd/internal/clients/edit cmd/internal/config/source cmd/internal/filechange mcpwire/sanitize router/suggest
cmd/internal/clients/edit: cmd/internal/clients/render cmd/internal/config/source mcpwire/sanitize
cmd/internal/clients/render: cmd/internal/config/source
cmd/internal/config: cmd/internal/cli cmd/internal/config/byname cmd/internal/config/cluster cmd/internal/config/deny cmd/internal/config/reference cmd/internal/config/source cmd/internal/config/table mcpwire/sanitize router/budget router/policy router/toolset
cmd/internal/config/byname: cmd/internal/config/source cmd/internal/config/table mcpwire/sanitize
cmd/internal/config/cluster: cmd/internal/config/reference cmd/internal/config/source cmd/internal/config/table
cmd/internal/config/deny: cmd/internal/config/source cmd/internal/config/table mcpwire/sanitize router/policy
cmd/internal/config/reference: cmd/internal/config/source mcpwire/sanitize router/suggest
cmd/internal/config/source: mcpwire/sanitize
cmd/internal/config/table: cmd/internal/cli cmd/internal/config/source mcpwire/sanitize router/policy
cmd/internal/debugsock: cmd/internal/cli cmd/internal/traces/files router/breakpoint
cmd/internal/demo: cmd/internal/cli cmd/internal/config cmd/internal/demo/demoserver cmd/internal/traces/files cmd/internal/traces/printer jsonrpc/trace mcpwire/system
cmd/internal/demo/demoserver: cmd/internal/cli jsonrpc mcpwire
cmd/internal/diagnosis: cmd/internal/cli cmd/internal/config cmd/internal/config/reference cmd/internal/config/source mcpwire mcpwire/sanitize router/catalog router/suggest router/upstream
cmd/internal/doctor: cmd/internal/cli cmd/internal/clients cmd/internal/config cmd/internal/config/reference cmd/internal/config/source cmd/internal/diagnosis cmd/internal/engine cmd/internal/report cmd/internal/setup cmd/internal/translate mcpwire/sanitize router/catalog router/upstream
cmd/internal/engine: cmd/internal/cli cmd/internal/config cmd/internal/debugsock cmd/internal/setup cmd/internal/traces/files jsonrpc/asyncwriter jsonrpc/peer jsonrpc/trace jsonrpc/trace/redact mcpwire/sanitize router router/audit router/hook router/upstream spawn
cmd/internal/filechange: cmd/internal/cli cmd/internal/config/source cmd/internal/textdiff mcpwire/system
cmd/internal/gateway: cmd/internal/cli cmd/internal/config cmd/internal/config/cluster cmd/internal/engine cmd/internal/setup cmd/internal/store cmd/internal/store/shared router router/audit router/budget router/httpd router/httpd/bridge router/httpd/bridge/calllog router/httpd/cluster router/httpd/cluster/engine router/httpd/cluster/hop router/httpd/cluster/ratelimit router/httpd/guard router/httpd/modes router/httpd/ops router/httpd/ops/prom router/httpd/presence router/policy router/upstream
cmd/internal/grouping: router/audit
cmd/internal/importer: cmd/internal/clients cmd/internal/config/byname cmd/internal/config/source cmd/internal/filechange cmd/internal/toolsfile cmd/internal/translate mcpwire/sanitize
cmd/internal/initcmd: cmd/internal/cli cmd/internal/clients cmd/internal/clients/edit cmd/internal/config cmd/internal/config/source cmd/internal/engine cmd/internal/importer cmd/internal/installcmd cmd/internal/logins cmd/internal/setup cmd/internal/toolsfile mcpwire mcpwire/sanitize router/catalog router/upstream
cmd/internal/installcmd: cmd/internal/changes cmd/internal/cli cmd/internal/clients cmd/internal/clients/edit cmd/internal/clients/render cmd/internal/config/reference cmd/internal/config/source cmd/internal/filechange cmd/internal/logins cmd/internal/setup cmd/internal/store/catalogs cmd/internal/translate router/recall
cmd/internal/junit:
cmd/internal/lockcmd: cmd/internal/cli cmd/internal/config cmd/internal/engine cmd/internal/report cmd/internal/setup cmd/internal/store jsonrpc/trace/redact mcpwire/sanitize router router/catalog
cmd/internal/logincmd: cmd/internal/cli cmd/internal/config cmd/internal/config/source cmd/internal/engine cmd/internal/logins cmd/internal/setup cmd/internal/signin jsonrpc/trace/redact mcpwire mcpwire/sanitize router/policy router/upstream
cmd/internal/logins: cmd/internal/cli cmd/internal/config/source cmd/internal/store cmd/internal/traces/files mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp mcpwire/streamhttp/credential mcpwire/system spawn
cmd/internal/report: cmd/internal/cli cmd/internal/config cmd/internal/config/table cmd/internal/diagnosis cmd/internal/engine cmd/internal/setup jsonrpc/trace/redact mcpwire mcpwire/sanitize router router/cache router/catalog router/httpd/cluster/engine router/toolset router/upstream router/view
cmd/internal/resolve: cmd/internal/cli cmd/internal/config cmd/internal/config/reference cmd/internal/config/source cmd/internal/config/table router/policy
cmd/internal/servercmd: cmd/internal/cli cmd/internal/config cmd/internal/config/byname cmd/internal/filechange cmd/internal/setup cmd/internal/toolsfile cmd/internal/translate mcpwire/sanitize
cmd/internal/setup: cmd/internal/cli cmd/internal/config cmd/internal/config/reference cmd/internal/config/source cmd/internal/config/table cmd/internal/logins cmd/internal/signin cmd/internal/store cmd/internal/store/catalogs jsonrpc/trace jsonrpc/trace/redact mcpwire mcpwire/httpclient mcpwire/sanitize mcpwire/streamhttp mcpwire/streamhttp/credential router router/cache router/catalog router/dial router/hook router/metatool router/policy router/toolset router/upstream router/view spawn
cmd/internal/signin: cmd/internal/cli cmd/internal/logins cmd/internal/signin/callback cmd/internal/signin/discovery jsonrpc mcpwire mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp mcpwire/streamhttp/credential
cmd/internal/signin/callback: cmd/internal/cli mcpwire/httpclient mcpwire/sanitize
cmd/internal/signin/discovery: cmd/internal/cli mcpwire mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize
cmd/internal/stdio: cmd/internal/cli cmd/internal/engine cmd/internal/setup jsonrpc jsonrpc/peer mcpwire mcpwire/streamhttp mcpwire/streamhttp/credential router router/client router/dial
cmd/internal/store: cmd/internal/cli cmd/internal/config/source cmd/internal/config/table mcpwire mcpwire/sanitize mcpwire/system router/toolset
cmd/internal/store/catalogs: mcpwire mcpwire/system router/recall
cmd/internal/store/shared: cmd/internal/config/cluster cmd/internal/store router/httpd/cluster/engine router/toolset
cmd/internal/tap: cmd/internal/cli cmd/internal/config/reference cmd/internal/debugsock cmd/internal/setup cmd/internal/tap/record cmd/internal/traces/files jsonrpc jsonrpc/peer jsonrpc/trace jsonrpc/trace/redact mcpwire mcpwire/httpclient router/breakpoint spawn
cmd/internal/tap/record: jsonrpc jsonrpc/asyncwriter jsonrpc/trace mcpwire mcpwire/httpheader router/tracing
cmd/internal/textdiff:
cmd/internal/toolsetcmd: cmd/internal/auditlog cmd/internal/cli cmd/internal/config cmd/internal/engine cmd/internal/grouping cmd/internal/setup cmd/internal/store cmd/internal/store/shared jsonrpc/trace/redact mcpwire/sanitize router router/audit router/catalog router/toolset
cmd/internal/toolsfile: cmd/internal/cli cmd/internal/clients/render cmd/internal/config cmd/internal/config/source cmd/internal/filechange mcpwire/sanitize
cmd/internal/traces: cmd/internal/cli cmd/internal/traces/check cmd/internal/traces/compare cmd/internal/traces/export cmd/internal/traces/files cmd/internal/traces/page cmd/internal/traces/play cmd/internal/traces/printer cmd/internal/traces/remove cmd/internal/traces/replay jsonrpc/trace
cmd/internal/traces/calls: cmd/internal/cli jsonrpc/trace jsonrpc/trace/filter
cmd/internal/traces/check: cmd/internal/cli cmd/internal/junit cmd/internal/traces/calls cmd/internal/traces/files jsonrpc/trace jsonrpc/trace/filter mcpwire/sanitize mcpwire/schema
cmd/internal/traces/compare: cmd/internal/cli cmd/internal/traces/calls cmd/internal/traces/recording jsonrpc/trace jsonrpc/trace/filter mcpwire mcpwire/sanitize
cmd/internal/traces/dialog: jsonrpc jsonrpc/peer
cmd/internal/traces/export: cmd/internal/cli cmd/internal/setup cmd/internal/traces/calls cmd/internal/traces/files jsonrpc jsonrpc/trace jsonrpc/trace/filter mcpwire mcpwire/sanitize
cmd/internal/traces/files: cmd/internal/cli jsonrpc/trace mcpwire/system
cmd/internal/traces/page: cmd/internal/cli cmd/internal/debugsock cmd/internal/traces/compare cmd/internal/traces/files cmd/internal/traces/recording jsonrpc jsonrpc/peer jsonrpc/trace router/breakpoint
cmd/internal/traces/page/web: cmd/internal/traces/printer
cmd/internal/traces/play: cmd/internal/cli cmd/internal/junit cmd/internal/traces/compare cmd/internal/traces/dialog cmd/internal/traces/recording jsonrpc jsonrpc/trace mcpwire mcpwire/sanitize router/suggest
cmd/internal/traces/printer: cmd/internal/cli cmd/internal/traces/calls cmd/internal/traces/files jsonrpc/trace jsonrpc/trace/filter mcpwire/sanitize mcpwire/system
cmd/internal/traces/recording: cmd/internal/cli cmd/internal/traces/files jsonrpc jsonrpc/trace jsonrpc/trace/filter mcpwire
cmd/internal/traces/remove: cmd/internal/cli cmd/internal/traces/files jsonrpc jsonrpc/trace jsonrpc/trace/filter jsonrpc/trace/redact
cmd/internal/traces/replay: cmd/internal/cli cmd/internal/junit cmd/internal/traces/compare cmd/internal/traces/dialog cmd/internal/traces/recording jsonrpc jsonrpc/trace mcpwire mcpwire/sanitize spawn
cmd/internal/translate: cmd/internal/clients cmd/internal/clients/render cmd/internal/config/reference cmd/internal/config/source cmd/internal/toolsfile mcpwire/sanitize
cmd/internal/usage: cmd/internal/auditlog cmd/internal/cli cmd/internal/setup mcpwire/sanitize router/audit
jsonrpc: jsonrpc/internal/scan
jsonrpc/asyncwriter:
jsonrpc/internal/scan:
jsonrpc/peer: jsonrpc
jsonrpc/trace: jsonrpc jsonrpc/asyncwriter jsonrpc/trace/redact
jsonrpc/trace/filter: jsonrpc/trace
jsonrpc/trace/redact:
mcpwire: jsonrpc
mcpwire/httpbody: jsonrpc mcpwire/httpheader
mcpwire/httpclient: mcpwire/sanitize mcpwire/system
mcpwire/httpheader: jsonrpc mcpwire mcpwire/sanitize
mcpwire/inputreq: jsonrpc mcpwire
mcpwire/jsonschema:
mcpwire/sanitize:
mcpwire/schema: mcpwire/jsonschema
mcpwire/streamhttp: jsonrpc jsonrpc/peer mcpwire mcpwire/httpbody mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp/internal/endpoint
mcpwire/streamhttp/credential: mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp/internal/endpoint mcpwire/system
mcpwire/streamhttp/internal/endpoint: jsonrpc mcpwire/httpclient mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp/internal/h1
mcpwire/streamhttp/internal/h1: mcpwire/system
mcpwire/system:
router: jsonrpc jsonrpc/peer jsonrpc/trace jsonrpc/trace/redact mcpwire mcpwire/inputreq mcpwire/sanitize router/apps router/audit router/breakpoint router/budget router/builtin router/cache router/calls router/catalog router/client router/clientstate router/dial router/discovery router/hook router/input router/limiter router/metatool router/policy router/pool router/recall router/session router/subscribe router/toolset router/tracing router/upstream router/view spawn
router/apps: jsonrpc mcpwire
router/audit: jsonrpc jsonrpc/asyncwriter jsonrpc/trace/redact mcpwire router/budget
router/breakpoint: jsonrpc jsonrpc/peer jsonrpc/trace jsonrpc/trace/filter mcpwire router/tracing
router/budget:
router/builtin: jsonrpc jsonrpc/peer jsonrpc/trace mcpwire mcpwire/inputreq mcpwire/sanitize router/audit router/catalog router/client router/clientstate router/dial router/metatool router/pool router/subscribe router/toolset router/tracing router/upstream router/view
router/cache: jsonrpc mcpwire
router/calls: jsonrpc jsonrpc/peer mcpwire router/audit router/budget router/cache router/catalog router/limiter router/tracing
router/catalog: jsonrpc mcpwire mcpwire/sanitize router/apps router/audit router/policy router/search router/suggest router/toolset
router/choose: mcpwire mcpwire/sanitize router/catalog router/view
router/client: jsonrpc jsonrpc/peer jsonrpc/trace mcpwire mcpwire/sanitize router/apps router/audit router/budget router/calls router/catalog router/policy router/record router/tracing router/upstream router/view
router/clientstate: router/budget router/client router/view
router/confirm: jsonrpc jsonrpc/peer jsonrpc/trace/redact mcpwire mcpwire/inputreq mcpwire/sanitize router/audit router/calls router/catalog router/client router/input router/tracing router/upstream
router/dial: jsonrpc jsonrpc/peer mcpwire/streamhttp mcpwire/system spawn
router/discovery: jsonrpc mcpwire mcpwire/sanitize router/catalog
router/feed: jsonrpc jsonrpc/peer mcpwire router/calls router/catalog router/tracing
router/hook: mcpwire/sanitize router/catalog router/toolset spawn
router/httpd: jsonrpc jsonrpc/peer mcpwire mcpwire/httpbody mcpwire/httpheader mcpwire/sanitize mcpwire/streamhttp router router/budget router/catalog router/client router/dial router/httpd/presence router/upstream spawn
router/httpd/bridge: jsonrpc jsonrpc/peer mcpwire mcpwire/httpbody mcpwire/httpheader mcpwire/jsonschema mcpwire/sanitize router router/audit router/budget router/catalog router/client router/httpd/bridge/calllog router/httpd/bridge/provider router/httpd/presence router/upstream router/view spawn
router/httpd/bridge/calllog: jsonrpc mcpwire mcpwire/sanitize router/audit router/budget
router/httpd/bridge/provider: jsonrpc
router/httpd/cluster: jsonrpc mcpwire mcpwire/httpheader router/apps router/budget router/httpd/cluster/engine router/httpd/cluster/failure router/httpd/cluster/hop router/httpd/cluster/names router/httpd/presence router/input
router/httpd/cluster/engine: mcpwire/sanitize
router/httpd/cluster/failure: jsonrpc mcpwire/httpbody router/httpd/bridge
router/httpd/cluster/hop: mcpwire/httpbody mcpwire/httpheader mcpwire/system router/budget
router/httpd/cluster/names: router/budget router/httpd/presence
router/httpd/cluster/ratelimit: router/httpd/cluster/engine
router/httpd/guard: mcpwire/sanitize router/budget
router/httpd/modes: jsonrpc mcpwire/sanitize router/budget router/client router/httpd/guard router/httpd/presence router/view
router/httpd/ops: jsonrpc jsonrpc/peer mcpwire mcpwire/sanitize router router/audit router/catalog router/client router/httpd/ops/prom router/policy router/upstream spawn
router/httpd/ops/prom:
router/httpd/presence: jsonrpc jsonrpc/peer mcpwire router router/budget router/client
router/input: jsonrpc jsonrpc/peer mcpwire mcpwire/inputreq mcpwire/sanitize router/audit router/budget router/calls router/catalog router/client router/subscribe router/tracing router/upstream
router/limiter: router/budget
router/loglevel: jsonrpc jsonrpc/peer mcpwire mcpwire/sanitize router/calls router/catalog router/client router/feed router/input router/pool router/tracing router/upstream
router/metatool: jsonrpc mcpwire mcpwire/sanitize router/catalog router/choose router/toolset router/view
router/policy:
router/pool: jsonrpc jsonrpc/peer mcpwire mcpwire/inputreq mcpwire/sanitize router/apps router/audit router/budget router/calls router/catalog router/client router/dial router/upstream spawn
router/recall: jsonrpc mcpwire
router/record: router/toolset router/view
router/search:
router/session: jsonrpc jsonrpc/peer jsonrpc/trace mcpwire mcpwire/inputreq mcpwire/sanitize router/apps router/audit router/breakpoint router/budget router/builtin router/cache router/calls router/catalog router/client router/clientstate router/confirm router/input router/loglevel router/metatool router/policy router/pool router/record router/subscribe router/tracing router/upstream router/view
router/subscribe: jsonrpc jsonrpc/peer mcpwire router/calls router/catalog router/client router/pool router/tracing router/upstream
router/suggest: mcpwire/sanitize
router/toolset: mcpwire/sanitize
router/tracing: jsonrpc jsonrpc/peer jsonrpc/trace mcpwire
router/upstream: jsonrpc jsonrpc/peer jsonrpc/trace mcpwire mcpwire/sanitize router/apps router/audit router/cache router/calls router/catalog router/dial router/discovery router/feed router/recall router/tracing spawn
router/view: jsonrpc mcpwire mcpwire/sanitize router/apps router/catalog router/toolset
spawn: jsonrpc/asyncwriter mcpwire/sanitize spawn/internal/tail spawn/winproc
spawn/internal/tail: mcpwire/sanitize
spawn/winproc:
`)

// rules reads a table with a line for each package: its path and those that it may import, below
// toolman.
func rules(table string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		all["toolman/"+path] = []string{}
		for _, one := range strings.Fields(imports) {
			all["toolman/"+path] = append(all["toolman/"+path], "toolman/"+one)
		}
	}
	return all
}

// only says which packages import a library, tests included.
var only = map[string][]string{
	"github.com/sourcegraph/jsonrpc2":  {"toolman/jsonrpc"},
	"github.com/BurntSushi/toml":       {"toolman/cmd/internal/config", "toolman/cmd/internal/config/source", "toolman/cmd/internal/resolve"},
	"github.com/gobwas/glob":           {"toolman/cmd/internal/config/table", "toolman/router/cache", "toolman/router/catalog", "toolman/router/policy"},
	"github.com/gowebpki/jcs":          {"toolman/mcpwire"},
	"github.com/go-jose/go-jose":       {"toolman/router/httpd/guard"},
	"github.com/cli/browser":           {"toolman/cmd/internal/logincmd"},
	"github.com/gofrs/flock":           {"toolman/cmd/internal/store"},
	"github.com/valkey-io/valkey-go":   {"toolman/router/httpd/cluster/engine"},
	"golang.org/x/oauth2":              {"toolman/cmd/internal/signin", "toolman/mcpwire/streamhttp/credential"},
	"go.uber.org/zap":                  {"toolman/router", "toolman/router/builtin", "toolman/router/client", "toolman/router/discovery", "toolman/router/feed", "toolman/router/hook", "toolman/router/input", "toolman/router/pool", "toolman/router/session", "toolman/router/subscribe", "toolman/router/upstream", "toolman/router/httpd", "toolman/router/httpd/bridge", "toolman/router/httpd/cluster", "toolman/router/httpd/ops", "toolman/router/httpd/presence", "toolman/cmd/internal/engine", "toolman/cmd/internal/gateway", "toolman/cmd/internal/stdio", "toolman/cmd/toolman"},
	"github.com/modelcontextprotocol/": {},
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			found := 0
			for _, p := range packagesOf(t, goos) {
				if isFixture(p.ImportPath) {
					continue // fixtures may import anything
				}
				if may[p.ImportPath] != nil {
					found++
				}
				for _, path := range p.Imports {
					checkImport(t, p.ImportPath, path)
				}
				for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
					if !isFixture(path) {
						checkImport(t, p.ImportPath, path)
					}
				}
			}
			if found != len(may) {
				t.Errorf("%d of the %d packages with rules were found", found, len(may))
			}
		})
	}
}

// TestProgram keeps out of the program what costs too much at every start, of a server on
// stdio too, however it gets in: a library that compiles its schemas as the program begins,
// and the tables of all languages.
func TestProgram(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "toolman/cmd/toolman")
		list.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all := strings.Fields(string(out))
		if !slices.Contains(all, "toolman/mcpwire/jsonschema") {
			t.Errorf("%s: this is not the whole program", goos)
		}
		for _, path := range all {
			if strings.HasPrefix(path, "github.com/santhosh-tekuri/") || strings.HasPrefix(path, "golang.org/x/text/") {
				t.Errorf("%s: the program has %s", goos, path)
			}
		}
	}
}

func isFixture(path string) bool { return strings.HasPrefix(path, "toolman/fixtures") }

func checkImport(t *testing.T, importer, path string) {
	t.Helper()
	for library, importers := range only {
		if strings.HasPrefix(path, library) && !slices.Contains(importers, importer) {
			t.Errorf("%s imports %s; only %q may", importer, path, importers)
		}
	}
	switch allowed, ruled := may[importer]; {
	case isFixture(path):
		t.Errorf("%s imports %s; only tests may", importer, path)
	case ruled && strings.HasPrefix(path, "toolman/") && path != importer && !slices.Contains(allowed, path):
		t.Errorf("%s imports %s; of toolman it may import only %q", importer, path, allowed)
	case strings.HasPrefix(path, "toolman/cmd/") && !strings.HasPrefix(importer, "toolman/cmd/"):
		t.Errorf("%s imports %s, which belongs to the program", importer, path)
	}
}

// TestModule keeps SDKs of the protocol out of go.mod: what toolman says must not
// depend on what they think of it.
func TestModule(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(mod, []byte("module toolman\n")) {
		t.Fatalf("not toolman's go.mod: %.100s", mod)
	}
	for _, word := range []string{"modelcontextprotocol", "mcp-go", "go-mcp", "mcp-golang", "fastmcp"} {
		if bytes.Contains(bytes.ToLower(mod), []byte(word)) {
			t.Errorf("go.mod has %s", word)
		}
	}
	for line := range strings.Lines(string(mod)) {
		if strings.HasPrefix(line, "replace ") || strings.Contains(line, " => ") {
			t.Errorf("go.mod replaces a module: %s", line)
		}
	}
}
