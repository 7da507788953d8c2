package doctor

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/diagnosis"
)

// programs are those of clients that print their version with --version.
var programs = map[string]string{
	"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode", "copilot-cli": "copilot", "goose": "goose",
	"vscode": "code", "crush": "crush", "kimi": "kimi", "grok": "grok", "zed": "zed",
}

const (
	versionTime  = 10 * time.Second // that a client has to say its version
	versionBytes = 4 << 10          // of its output that are kept
)

// versions returns the versions of clients; "" for one that is not in PATH or does not say it.
func (l looker) versions(all []*clients.Client) []string {
	said := make([]string, len(all))
	number := regexp.MustCompile(`\d{1,6}\.\d{1,6}(?:\.\d{1,9})?`)
	var wg sync.WaitGroup
	for i, c := range all {
		if path, err := exec.LookPath(programs[c.ID]); err == nil {
			wg.Go(func() { said[i] = number.FindString(firstLine(l.ctx, path, "--version")) })
		}
	}
	wg.Wait()
	return said
}

// firstLine returns the first line that a program writes; "" if it takes too long.
func firstLine(ctx context.Context, path string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out := &limited{}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	if cmd.Run() != nil {
		return ""
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return line
}

// limited keeps the first versionBytes of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), versionBytes-l.Len())])
	return len(p), nil
}

// A fact is a known problem of the versions of a client.
type fact struct {
	client  string
	from    string // the first version; "": all before until
	until   string // the first version without it; "": all from on
	lacks   string // only if the entry of toolman does not have this key; "": always
	id      string
	summary string
	fix     string
}

// facts were measured with the clients.
var facts = []fact{
	{"codex", "", "", "", "client-lists-once", "it lists tools once: tools that the model switches on do not appear",
		"nothing: toolman offers it toolman_call, which calls them (see activation_mode)"},
	{"codex", "", "", "required", "client-does-not-wait", "its first step does not wait for a list that takes longer than a second",
		"toolman install codex writes required = true"},
	{"claude-code", "2.1.329", "", "alwaysLoad", "client-defers", "it hides tools behind a search of its own, and does not wait for a list that takes long",
		`toolman install claude-code writes "alwaysLoad": true`},
	{"claude-code", "", "2.1.329", "alwaysLoad", "client-does-not-wait", "its first step does not wait for a list that takes longer than a second",
		`toolman install claude-code writes "alwaysLoad": true, or set MCP_CONNECTION_NONBLOCKING=0`},
	{"claude-code", "", "2.1.329", "", "client-cuts", "it cuts descriptions and instructions after 2,048 characters", "nothing: toolman's own fit; later versions take 4,096"},
	{"opencode", "", "2.0.0", "timeout", "client-gives-up", "it gives up a server that does not list its tools within 30 s", `toolman install opencode writes "timeout": 60000`},
	{"gemini", "", "", "timeout", "client-gives-up", "it gives up a call after 10 minutes, or what timeout says", `toolman install gemini writes "timeout": 600000`},
}

// ofVersion adds what is known of a client's version. It says nothing of a client that does not have
// toolman, or whose version is not known.
func (x *examination) ofVersion(version string, registered []registration, all []clients.Entry) {
	if len(registered) == 0 || version == "" {
		return
	}
	for _, f := range facts {
		if f.client != x.client.ID || f.from != "" && older(version, f.from) || f.until != "" && !older(version, f.until) {
			continue
		}
		lacks := func(e clients.Entry) bool { return e.IsToolman && !e.Disabled && !slices.Contains(e.Unknown, f.lacks) }
		if f.lacks == "" || slices.ContainsFunc(all, lacks) {
			x.add(diagnosis.Note, f.id, f.fix, "%s %s: %s", x.client.Title, version, f.summary)
		}
	}
}

// older reports whether a version is before another.
func older(version, other string) bool {
	a, b := strings.Split(version, "."), strings.Split(other, ".")
	for i := range min(len(a), len(b)) {
		m, _ := strconv.Atoi(a[i])
		n, _ := strconv.Atoi(b[i])
		if m != n {
			return m < n
		}
	}
	return len(a) < len(b)
}
