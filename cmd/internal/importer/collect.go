package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/toolsfile"
	"toolman/cmd/internal/translate"
	"toolman/mcpwire/sanitize"
)

// A Server is one server for tools.toml.
type Server struct {
	toolsfile.Server
	Secrets []Secret
	Inputs  []translate.Input
	Notes   []string
	Entries []clients.Entry // where it comes from; several if several clients have it
	// Known is set if tools.toml has the server already. Namespace is then its name there.
	Known bool
}

// A Secret is a value that a client has in clear text.
type Secret struct {
	translate.Secret
	Path    string // the file that is to have it; "": a variable stands for it
	written string // Path as tools.toml has it
}

// From names the clients that have the server.
func (s *Server) From() string {
	var titles []string
	for _, e := range s.Entries {
		if title := e.File.Client.Title; !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	if n := len(titles); n > 1 {
		return strings.Join(titles[:n-1], ", ") + " and " + titles[n-1]
	}
	return strings.Join(titles, "")
}

// A Skipped is a server of a client that is left out.
type Skipped struct {
	Entry clients.Entry
	Why   string
}

// String says where the entry is and why it is left out.
func (s Skipped) String() string {
	return fmt.Sprintf("%s of %s (%s:%d): %s", sanitize.Line(s.Entry.Name), s.Entry.File.Client.Title, sanitize.Line(s.Entry.File.Path), s.Entry.Line, s.Why)
}

// A Plan is what becomes of the servers of some files.
type Plan struct {
	Target   toolsfile.File // the tools.toml that they are for; without text if it does not exist
	Servers  []*Server
	Skipped  []Skipped
	Toolman  []clients.Entry // that start toolman already
	Problems []error         // files that cannot be read
}

// Options say how servers are planned.
type Options struct {
	Place   clients.Place
	Program string // the path of this program, whatever it is called
	// Secrets is the directory for files with secrets. If it is "", variables stand for them.
	Secrets string
}

// Collect reads files of clients and plans their servers for a tools.toml.
func Collect(o Options, target toolsfile.File, files []clients.File) (*Plan, error) {
	p := &Plan{Target: target}
	existing, err := written(target)
	if err != nil {
		return nil, err
	}
	var entries []clients.Entry
	for _, f := range unique(files) {
		found, err := f.Read()
		if err != nil {
			p.Problems = append(p.Problems, err)
			continue
		}
		for _, e := range found {
			switch {
			case e.IsToolman, e.Command != "" && e.Command == o.Program:
				p.Toolman = append(p.Toolman, e)
			case e.Disabled:
				p.Skipped = append(p.Skipped, Skipped{e, "it is disabled there"})
			default:
				entries = append(entries, e)
			}
		}
	}
	// Variables that some server takes from the environment stand for no secret of another one.
	names := &translate.Variables{}
	for _, e := range entries {
		_, _ = translate.Server(e, o.context(e.File), like(e.Name), names)
	}
	names = names.OfEnvironment()
	c := collector{Options: o, plan: p, names: names, existing: existing, byKey: map[string]*Server{}, used: map[string]bool{}}
	for name := range existing {
		c.used[name] = true
	}
	for _, e := range entries {
		if err := c.add(e); err != nil {
			p.Skipped = append(p.Skipped, Skipped{e, err.Error()})
		}
	}
	return p, nil
}

// unique returns files without those that another client shares.
func unique(files []clients.File) (all []clients.File) {
	for _, f := range files {
		if !slices.ContainsFunc(all, f.Same) {
			all = append(all, f)
		}
	}
	return all
}

// context returns what variables in a file depend on.
func (o Options) context(f clients.File) translate.Context {
	c := translate.Context{OS: o.Place.OS, Dir: filepath.Dir(f.Path), Home: o.Place.Home}
	if f.Scope != clients.User {
		c.Project = o.Place.Project
	}
	return c
}

// A collector chooses namespaces and recognizes servers.
type collector struct {
	Options
	plan     *Plan
	names    *translate.Variables
	existing map[string]toolsfile.Server // servers of tools.toml by namespace
	byKey    map[string]*Server
	used     map[string]bool // namespaces
}

// add plans one entry.
func (c *collector) add(e clients.Entry) error {
	base := like(e.Name)
	t, err := translate.Server(e, c.context(e.File), base, c.names)
	if err != nil {
		return err
	}
	if s := c.byKey[t.Key()]; s != nil {
		s.Entries = append(s.Entries, e)
		for _, in := range t.Inputs {
			if !slices.Contains(s.Inputs, in) {
				s.Inputs = append(s.Inputs, in)
			}
		}
		return nil
	}
	s := &Server{Server: t.Server, Inputs: t.Inputs, Notes: t.Notes, Entries: []clients.Entry{e}}
	for _, secret := range t.Secrets {
		s.Secrets = append(s.Secrets, Secret{Secret: secret})
	}
	if c.Secrets != "" {
		s.intoFiles(c.Secrets, c.Place.Home)
	}
	if name, ok := c.known(s); ok {
		s.Namespace, s.Known = name, true
	} else if s.Namespace = c.namespace(base, e.File.Client.ID); s.Namespace == "" {
		return errors.New("no namespace is left for it")
	}
	if err := s.Check(c.plan.Target.Path); err != nil { // tools.toml with it could not be used at all
		return errors.New(sanitize.Line(err.Error()))
	}
	c.used[s.Namespace] = true
	c.byKey[t.Key()] = s
	c.plan.Servers = append(c.plan.Servers, s)
	return nil
}

// like returns a namespace that is like a name.
func like(name string) string {
	if name = byname.LikeNamespace(name); name == "" {
		return "server"
	}
	return name
}

// namespace returns a free namespace.
func (c *collector) namespace(base, client string) string {
	const longest = 32
	with := func(suffix string) string {
		return strings.TrimRight(base[:min(len(base), longest-len(suffix))], "_.-") + suffix
	}
	candidates := []string{base, with("_" + strings.ReplaceAll(client, "-", "_"))}
	for n := 2; n < 1000; n++ {
		candidates = append(candidates, with(fmt.Sprint("_", n)))
	}
	for _, name := range candidates {
		if !c.used[name] && byname.IsNamespace(name) {
			return name
		}
	}
	return ""
}

// known returns the namespace under which tools.toml has the server already.
func (c *collector) known(s *Server) (string, bool) {
	block := keysOf(s.Server)
	for name, other := range c.existing {
		if block.Same(other) && (!c.used[name] || !slices.ContainsFunc(c.plan.Servers, func(p *Server) bool { return p.Known && p.Namespace == name })) {
			return name, true
		}
	}
	return "", false
}

// intoFiles puts files in the place of variables. A file that has another value already is left
// alone.
func (s *Server) intoFiles(dir, home string) {
	for i := range s.Secrets {
		secret := &s.Secrets[i]
		secret.Path = filepath.Join(dir, secret.Name)
		for n := 2; ; n++ {
			text, err := filechange.Read(secret.Path, source.MaxBytes)
			if err != nil || text == nil || string(text) == secret.Value { // SecretFiles reports the error
				break
			}
			secret.Path = filepath.Join(dir, fmt.Sprintf("%s_%d", secret.Name, n))
		}
		path := secret.Path
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
			path = "~/" + filepath.ToSlash(rest)
		}
		secret.written = path
		s.replace("${"+secret.Name+"}", "${file:"+path+"}")
	}
}

// replace replaces references.
func (s *Server) replace(old, now string) {
	s.Command, s.URL, s.Cwd = strings.ReplaceAll(s.Command, old, now), strings.ReplaceAll(s.URL, old, now), strings.ReplaceAll(s.Cwd, old, now)
	for i := range s.Args {
		s.Args[i] = strings.ReplaceAll(s.Args[i], old, now)
	}
	for _, pairs := range [][]toolsfile.Pair{s.Env, s.Headers} {
		for i := range pairs {
			pairs[i].Value = strings.ReplaceAll(pairs[i].Value, old, now)
		}
	}
}

// keysOf returns what a block says, whatever the server is called.
func keysOf(s toolsfile.Server) toolsfile.Server {
	s.Namespace, s.Description = "", ""
	return s
}

// written returns the servers of a tools.toml by namespace, as [keysOf] returns them.
func written(f toolsfile.File) (map[string]toolsfile.Server, error) {
	all := map[string]toolsfile.Server{}
	if f.Text == nil {
		return all, nil
	}
	servers, err := f.Written()
	for _, s := range servers {
		all[s.Namespace] = keysOf(s)
	}
	return all, err
}
