package initcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/importer"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

// atOnce is how many servers are started at the same time: a first npx downloads, and a laptop has
// few processors.
const atOnce = 8

// A trial is what was found out about a server by starting it once.
type trial struct {
	tried   bool
	problem string // why it cannot be used; "" if it can
	login   string // the command with which a person logs in to it; "" if that is not known to be needed
	tools   int
	bytes   int // of the definitions of its tools
}

// tokens estimates what the tools of the server cost a model.
func (t trial) tokens() int { return catalog.Tokens(t.bytes) }

// probe starts the servers of a plan that tools.toml does not have yet, and shows on stderr how
// they start. If cached is true, the catalog cache then has what they offer.
func probe(ctx context.Context, plan *importer.Plan, cached bool, stderr *os.File) (map[*importer.Server]trial, error) {
	trials := map[*importer.Server]trial{}
	var wanted []*importer.Server
	for _, s := range plan.New() {
		if len(s.Inputs) == 0 { // which only the client can ask for
			wanted = append(wanted, s)
		}
	}
	for len(wanted) > 0 {
		some := wanted[:min(atOnce, len(wanted))]
		if err := probeSome(ctx, plan, some, trials, cached, stderr); err != nil {
			return nil, err
		}
		wanted = wanted[len(some):]
	}
	return trials, nil
}

func probeSome(ctx context.Context, plan *importer.Plan, some []*importer.Server, trials map[*importer.Server]trial, cached bool, stderr *os.File) error {
	values := map[string]string{}
	var blocks strings.Builder
	for _, s := range some {
		one := s.Server
		for _, secret := range s.Secrets { // whose files are not there yet
			if secret.Path != "" {
				one = importer.WithVariable(one, secret)
			}
			if secret.File == "" || secret.Path != "" {
				values[secret.Name] = secret.Value
			}
		}
		blocks.WriteString(one.Block() + "\n")
	}
	lookup := func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, true
		}
		return os.LookupEnv(name)
	}
	// A name of its own: what lies beside tools.toml, such as pins, is for what that has already.
	path := filepath.Join(filepath.Dir(plan.Target.Path), "tools.toml")
	c, err := config.LoadFrom(source.Source{Path: path, Text: []byte(blocks.String()), Format: "toml", Dir: filepath.Dir(path)}, config.Options{LookupEnv: lookup})
	if err != nil {
		return err
	}
	c.Beside = filepath.Join(filepath.Dir(path), "toolman-init.toml")
	for i := range c.Servers {
		c.Servers[i].Uncached = !cached
	}
	running, err := engine.Check(ctx, c, stderr)
	if err != nil {
		return err
	}
	statuses := engine.Statuses(running.Router, c.Secrets)
	running.Close()
	for i, st := range statuses {
		t := trial{tried: true, tools: len(st.Entries[mcpwire.Tool])}
		for _, e := range st.Entries[mcpwire.Tool] {
			t.bytes += len(e.Item.Raw) + 1
		}
		switch {
		case st.State == upstream.Ready:
		case st.Login != "":
			t.login = st.Login
		default:
			t.problem = plain(strings.TrimPrefix(st.Problem, st.Name+": "))
		}
		trials[some[i]] = t
	}
	return forget(ctx, c)
}

// forget removes what is kept of servers that want a login, so that a trial leaves nothing.
func forget(ctx context.Context, c *config.Config) error {
	folder, err := logins.Open()
	if err != nil {
		return nil // nothing is kept anywhere
	}
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Remote != nil && s.Remote.TakesLogin() {
			if _, err := folder.File(setup.LoginKey(s, "")).Forget(ctx); err != nil {
				return err
			}
		}
	}
	folder.Tidy()
	return nil
}

// plain returns why a server is gone without the place in a file that does not exist.
func plain(problem string) string {
	if rest, ok := strings.CutPrefix(problem, "tools.toml:"); ok {
		if _, after, found := strings.Cut(rest, ": "); found {
			problem = after
		}
	}
	problem, _, _ = strings.Cut(problem, "; set it where")
	return problem
}

// demoServer is the server of a tools.toml for somebody who has none yet.
func demoServer(program string) toolsfile.Server {
	return toolsfile.Server{
		Comment:   []string{"A server to try toolman with, which is in toolman itself."},
		Namespace: "demo", Command: program, Args: []string{"__demo-server", "notes"},
	}
}

// count returns a number with commas, or a dash if it is not known.
func (t trial) count(n int) string {
	if !t.tried || t.problem != "" || t.login != "" {
		return "-"
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
