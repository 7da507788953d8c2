package initcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/importer"
	"toolman/cmd/internal/installcmd"
	"toolman/cmd/internal/toolsfile"
)

// A plan is what init changes.
type plan struct {
	*installcmd.Plan
	program installcmd.Program
	place   clients.Place
	lines   []string          // what it does, in words
	clients []*clients.Client // in which toolman is registered
	configs []string          // the files of toolman
	logins  []string          // the commands of logins that toolman needs
	notes   []string
	quiet   []string // files that the difference leaves out: the schema, and those with secrets
}

func newPlan(place clients.Place) (*plan, error) {
	p, err := installcmd.NewPlan()
	if err != nil {
		return nil, err
	}
	program, err := installcmd.ThisProgram()
	return &plan{Plan: p, program: program, place: place}, err
}

// planChanges plans all changes of files.
func (r *setupRun) planChanges() (*plan, error) {
	do, err := newPlan(r.place)
	if err != nil {
		return nil, err
	}
	var taken []clients.File // the user's files in which toolman is registered
	for _, p := range r.plans {
		if len(p.Servers) == 0 {
			continue
		}
		text, err := do.tools(p)
		if err != nil {
			return nil, err
		}
		if err := do.register(p, text, &taken); err != nil {
			return nil, err
		}
		for _, s := range p.New() {
			if login := r.trials[s].login; login != "" {
				login += " --config " + installcmd.Quote(p.Target.Path)
				do.logins = append(do.logins, login)
				do.notes = append(do.notes, fmt.Sprintf("Server %s needs a login, and toolman does not have those of clients. Until you run %s, it has no tools.", s.Namespace, login))
			}
		}
	}
	return do, nil
}

// tools plans the tools.toml of some servers, and the files with their secrets. It returns its text.
func (do *plan) tools(p *importer.Plan) ([]byte, error) {
	text, err := p.Text()
	if err == nil {
		err = do.write(p.Target, text, len(p.New()))
	}
	if err == nil {
		err = do.secrets(p)
	}
	return text, err
}

// write plans a tools.toml, and its schema.
func (do *plan) write(target toolsfile.File, text []byte, servers int) error {
	changes, err := target.Changes(text, config.Schema())
	if err != nil {
		return err
	}
	do.configs = append(do.configs, target.Path)
	if string(text) == string(target.Text) {
		return nil
	}
	do.quiet = append(do.quiet, toolsfile.SchemaPath(target.Path))
	for _, c := range changes {
		if err := do.Write("tools.toml", c.Path, c.After, c.Mode); err != nil {
			return err
		}
	}
	verb := "append to"
	if target.Text == nil {
		verb = "write"
	}
	do.lines = append(do.lines, fmt.Sprintf("%s %s: %s", verb, target.Path, cli.Count(servers, "server")))
	return nil
}

// secrets plans the files with secrets.
func (do *plan) secrets(p *importer.Plan) error {
	for _, s := range p.Servers {
		for _, secret := range s.Secrets {
			do.Hide(secret.Value)
		}
	}
	files, err := p.SecretFiles()
	if err != nil {
		return err
	}
	for _, c := range files {
		if !c.IsNone() {
			do.lines = append(do.lines, "write "+c.Path+": a secret, which only you can read")
		}
		do.quiet = append(do.quiet, c.Path)
		if err := do.Write("a secret", c.Path, c.After, c.Mode); err != nil {
			return err
		}
	}
	return nil
}

// A registration is what changes in one file of a client.
type registration struct {
	file  clients.File
	names []string // the entries that are taken out
	env   []clients.Pair
}

// registrations returns the files that have servers of the plan.
func registrations(p *importer.Plan) (all []*registration) {
	for _, s := range p.Servers {
		for _, e := range s.Entries {
			i := slices.IndexFunc(all, func(r *registration) bool { return r.file.Same(e.File) })
			if i < 0 {
				i = len(all)
				all = append(all, &registration{file: e.File})
			}
			all[i].add(s, e)
		}
	}
	return all
}

// add takes an entry out. What toolman needs of the client for the server in its place goes into the
// environment of toolman's entry.
func (r *registration) add(s *importer.Server, e clients.Entry) {
	r.names = append(r.names, e.Name)
	set := func(name, value string) {
		if !slices.ContainsFunc(r.env, func(p clients.Pair) bool { return p.Name == name }) {
			r.env = append(r.env, clients.Pair{Name: name, Value: value})
		}
	}
	for _, secret := range s.Secrets {
		if secret.Path == "" && secret.File == "" {
			set(secret.Name, secret.Value)
		}
	}
	if e.File.Client.ID == "vscode" {
		for _, in := range s.Inputs {
			set(in.Name, in.Text)
		}
	}
}

// register plans the changes in the files of clients.
func (do *plan) register(p *importer.Plan, text []byte, taken *[]clients.File) error {
	root, err := config.Tree(source.Source{Path: p.Target.Path, Text: text, Format: "toml"})
	if err != nil {
		return err
	}
	all := registrations(p)
	for _, r := range all {
		t := do.program.For(r.file.Client, "--config", p.Target.Path)
		t.Env = r.env
		for _, name := range installcmd.Variables(root) {
			if !slices.ContainsFunc(r.env, func(p clients.Pair) bool { return p.Name == name }) {
				t.EnvNames = append(t.EnvNames, name)
			}
		}
		if r.file.Scope != clients.User && slices.ContainsFunc(*taken, func(f clients.File) bool { return f.Client.ID == r.file.Client.ID }) {
			t.Name = "toolman-project" // the user's entry of the same name would be hidden
		}
		// First take out: a server could have toolman's name.
		if err := do.TakeOut(r.file, r.names...); err != nil {
			return err
		}
		name, err := do.Register(r.file, t, do.place)
		if err != nil {
			return err
		}
		if r.file.Scope == clients.User {
			*taken = append(*taken, r.file)
		}
		do.lines = append(do.lines, fmt.Sprintf("change %s (%s): %s in the place of %s", r.file.Path, r.file.Client.Title, name, strings.Join(r.names, ", ")))
		if !slices.ContainsFunc(do.clients, func(c *clients.Client) bool { return c.ID == r.file.Client.ID }) {
			do.clients = append(do.clients, r.file.Client)
		}
	}
	do.noteSecrets(p, all)
	return nil
}

// noteSecrets notes clients in which a server does not start, because another client has its secret.
func (do *plan) noteSecrets(p *importer.Plan, all []*registration) {
	for _, s := range p.Servers {
		for _, secret := range s.Secrets {
			if secret.Path != "" || secret.File != "" {
				continue
			}
			var without []string
			for _, r := range all {
				if !slices.ContainsFunc(r.env, func(pair clients.Pair) bool { return pair.Name == secret.Name }) && !slices.Contains(without, r.file.Client.Title) {
					without = append(without, r.file.Client.Title)
				}
			}
			if len(without) > 0 {
				do.notes = append(do.notes, fmt.Sprintf("Server %s does not start in %s: %s is in the file of %s only. toolman init --secrets file makes it available to all.",
					s.Namespace, strings.Join(without, ", "), secret.Name, s.From()))
			}
		}
	}
}

// isNone reports whether nothing changes.
func (do *plan) isNone() bool { return len(do.Changes()) == 0 }

func (do *plan) print(out io.Writer) {
	fmt.Fprintln(out, "\ntoolman init will:")
	for _, line := range do.lines {
		fmt.Fprintf(out, "  - %s\n", line)
	}
	for _, note := range do.notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

// diff returns the difference without secrets, and without files that only programs read.
func (do *plan) diff() string { return "\n" + do.Diff(do.quiet...) }

func (do *plan) printDone(out io.Writer) {
	fmt.Fprintln(out, "\nDone. Next:")
	if len(do.clients) > 0 {
		fmt.Fprintln(out, "  - Restart the clients that are running, so that they read their files again.")
		for _, c := range do.clients {
			if c.Note != "" {
				fmt.Fprintf(out, "  - %s: %s.\n", c.Title, c.Note)
			}
		}
	}
	for _, login := range do.logins {
		fmt.Fprintf(out, "  - Log in: %s\n", login)
	}
	for _, path := range do.configs {
		fmt.Fprintf(out, "  - See how the servers are: toolman check --config %s\n", installcmd.Quote(path))
	}
	fmt.Fprintln(out, "  - If something does not work: toolman doctor")
	fmt.Fprintln(out, "  - Undo everything: toolman uninstall --all")
}
