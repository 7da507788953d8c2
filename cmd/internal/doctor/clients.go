package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
)

// A client is what doctor found out about an MCP client.
type client struct {
	ID         string         `json:"id"`
	Title      string         `json:"title"`
	Version    string         `json:"version,omitempty"` // "" if it is not known
	Files      []string       `json:"files"`             // with its servers; those that exist
	Registered []registration `json:"registered"`        // entries that start toolman
}

// A registration is an entry of a client that starts toolman.
type registration struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Scope   string `json:"scope"`
	Program string `json:"program"`          // as it is written
	Config  string `json:"config,omitempty"` // that it names; "" if it names none
	Enabled bool   `json:"enabled"`
}

// A looker looks at the clients of a machine.
type looker struct {
	ctx     context.Context
	place   clients.Place
	config  *config.Config // nil: it cannot be used
	program string         // of this toolman
	version string
}

// look adds what it finds of the chosen clients.
func (l looker) look(res *result, chosen *choice) {
	if !chosen.withClients {
		return
	}
	all := chosen.clients
	if all == nil {
		for _, c := range clients.All() {
			if c.Detected(l.place) {
				all = append(all, c)
			}
		}
	}
	versions := l.versions(all)
	registered := false
	for i, c := range all {
		one, found := l.client(c, versions[i])
		res.Clients, res.Findings = append(res.Clients, one), append(res.Findings, found...)
		registered = registered || len(one.Registered) > 0
	}
	switch {
	case len(all) == 0:
		res.Findings = append(res.Findings, diagnosis.Finding{ID: "no-client", Level: diagnosis.Note,
			Summary: "there is no trace of an MCP client on this machine", Fix: "toolman install CLIENT registers toolman in one; toolman help clients lists them"})
	case !registered && chosen.clients == nil:
		res.Findings = append(res.Findings, diagnosis.Finding{ID: "registered-nowhere", Level: diagnosis.Note,
			Summary: "toolman is registered in none of these clients", Fix: "toolman install " + all[0].ID})
	}
}

// An examination is of one client.
type examination struct {
	looker
	client *clients.Client
	found  []diagnosis.Finding
}

func (x *examination) add(level diagnosis.Level, id, fix, format string, args ...any) {
	x.found = append(x.found, diagnosis.Finding{ID: id, Client: x.client.ID, Level: level,
		Summary: sanitize.Line(fmt.Sprintf(format, args...)), Fix: sanitize.Line(fix)})
}

// client looks at one client, of this version.
func (l looker) client(c *clients.Client, version string) (client, []diagnosis.Finding) {
	x := &examination{looker: l, client: c}
	one := client{ID: c.ID, Title: c.Title, Version: version, Files: []string{}, Registered: []registration{}}
	var all []clients.Entry
	for _, f := range c.Files(l.place) {
		if !f.Exists() {
			continue
		}
		if !slices.Contains(one.Files, f.Path) {
			one.Files = append(one.Files, sanitize.Line(f.Path))
		}
		entries, err := f.Read()
		if err != nil {
			text, fix, _ := strings.Cut(err.Error(), "; ")
			if fix == "" {
				fix = "correct the file; the client cannot read it either"
			}
			x.add(diagnosis.Problem, "client-file", fix, "its configuration cannot be read: %s", text)
			continue
		}
		all = append(all, entries...)
	}
	for i := range all {
		e := &all[i]
		if e.IsToolman = startsToolman(e, l.program); e.IsToolman {
			one.Registered = append(one.Registered, x.registration(e))
		}
	}
	switch {
	case len(one.Registered) > 0:
		x.duplicates(all)
	case !c.Writable():
		x.add(diagnosis.Note, "not-registered", "toolman snippet "+c.ID+" prints what to paste into its settings", "its settings are in no file that toolman reads: it may be registered there")
	case len(x.found) == 0: // the file can be read
		x.add(diagnosis.Note, "not-registered", "toolman install "+c.ID, "toolman is not registered in it")
	}
	x.ofVersion(version, one.Registered, all)
	return one, x.found
}

// startsToolman reports whether an entry starts toolman, or the program of this process.
func startsToolman(e *clients.Entry, program string) bool {
	return e.IsToolman || len(e.Args) > 0 && filepath.IsAbs(e.Command) && same(e.Command, program) && strings.HasPrefix(e.Args[0], "--config")
}

// placeOf returns where an entry is.
func placeOf(e *clients.Entry) string { return fmt.Sprintf("%s:%d", e.File.Path, e.Line) }

// registration looks at an entry that starts toolman.
func (x *examination) registration(e *clients.Entry) registration {
	reg := registration{Name: sanitize.Line(e.Name), File: sanitize.Line(e.File.Path), Line: e.Line, Scope: string(e.File.Scope),
		Program: sanitize.Line(e.Command), Enabled: !e.Disabled}
	install := "toolman install " + x.client.ID
	if e.Disabled {
		x.add(diagnosis.Note, "registration-disabled", "enable it in the client", "the entry at %s is disabled", placeOf(e))
		return reg
	}
	x.ofProgram(e, install)
	reg.Config = sanitize.Line(x.ofConfig(e, install))
	x.ofEnvironment(e, install)
	x.ofFolder(e)
	return reg
}

// ofProgram checks the program of an entry.
func (x *examination) ofProgram(e *clients.Entry, install string) {
	path, err := exec.LookPath(e.Command)
	if strings.ContainsAny(e.Command, "$%{") { // the client replaces a variable
		return
	}
	if err != nil {
		x.add(diagnosis.Problem, "registration-program", install+" writes the path of this toolman", "the program %s that %s names is not there", e.Command, placeOf(e))
		return
	}
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
	mine, err1 := os.Stat(x.program)
	theirs, err2 := os.Stat(path)
	// A project's file may name any program.
	if base != "toolman" || err1 != nil || err2 != nil || os.SameFile(mine, theirs) || e.File.Scope == clients.Project {
		return
	}
	said := firstLine(x.ctx, path, "version")
	words := strings.Fields(said)
	if len(words) < 2 || words[0] != "toolman" {
		x.add(diagnosis.Problem, "registration-program", install+" writes the path of this toolman", "%s, which %s names, is no toolman", path, placeOf(e))
	} else if words[1] != x.version {
		x.add(diagnosis.Note, "registration-version", install+" writes the path of this toolman", "%s starts %s, which is version %s, and this is version %s", placeOf(e), path, words[1], x.version)
	}
}

// configOf returns which tools.toml an entry names, "" if it names none. inEnv is true if the entry
// holds the configuration itself.
func configOf(e *clients.Entry) (path string, inEnv bool) {
	path = e.Config()
	for _, v := range e.Env {
		if path == "" && v.Name == "TOOLMAN_CONFIG_JSON" {
			return "", true
		} else if path == "" && v.Name == "TOOLMAN_CONFIG" {
			path = v.Value
		}
	}
	return path, false
}

// ofConfig checks which tools.toml an entry names, and returns its path.
func (x *examination) ofConfig(e *clients.Entry, install string) string {
	path, inEnv := configOf(e)
	if inEnv {
		return ""
	}
	switch {
	case path == "" && slices.Contains(e.Args, "demo"), strings.ContainsAny(path, "$%{"):
		return ""
	case path == "":
		if e.File.Scope == clients.User {
			x.add(diagnosis.Note, "config-not-named", install+" names it", "the entry at %s names no tools.toml: which one is used depends on the folder in which the client starts toolman", placeOf(e))
		}
		return ""
	case !filepath.IsAbs(path):
		if e.File.Scope == clients.User {
			x.add(diagnosis.Problem, "config-relative", install+" writes its full path", "the entry at %s names %s, and the client may start toolman in any folder", placeOf(e), path)
		}
		return path
	}
	if _, err := os.Stat(path); err != nil {
		x.add(diagnosis.Problem, "config-missing", install+" names this tools.toml", "the entry at %s names %s, which is not there", placeOf(e), path)
	} else if x.config != nil && !same(path, x.config.Path) {
		x.add(diagnosis.Note, "config-other", "toolman doctor --config "+path+" checks it", "the entry at %s uses another configuration: %s", placeOf(e), path)
	}
	return path
}

func same(a, b string) bool {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// ofEnvironment checks whether the variables that tools.toml refers to reach toolman.
func (x *examination) ofEnvironment(e *clients.Entry, install string) {
	if x.config == nil {
		return
	}
	var lost []string
	for _, name := range x.variables() {
		given := slices.Contains(e.EnvNames, name) || slices.ContainsFunc(e.Env, func(p clients.Pair) bool { return p.Name == name })
		if given || x.place.Getenv(name) == "" || !x.withheld(name) {
			continue
		}
		lost = append(lost, name)
	}
	if len(lost) == 0 {
		return
	}
	names := strings.Join(lost, ", ")
	switch x.client.ID {
	case "codex":
		x.add(diagnosis.Problem, "env-withheld", fmt.Sprintf(`%s, or write env_vars = ["%s"] at %s`, install, strings.Join(lost, `", "`), placeOf(e)),
			"Codex passes on only the variables that an entry names, and these do not reach toolman: %s", names)
	case "gemini":
		x.add(diagnosis.Problem, "env-withheld", fmt.Sprintf(`%s, or write "env": {"%s": "$%s"} at %s`, install, lost[0], lost[0], placeOf(e)),
			"Gemini CLI keeps variables with such names from servers, and these do not reach toolman: %s", names)
	default:
		x.add(diagnosis.Note, "env-withheld", "write them into env at "+placeOf(e)+", or use ${file:…} in tools.toml",
			"%s is not started from a shell, and these variables of your shell may not reach toolman: %s", x.client.Title, names)
	}
}

// withheld reports whether the client does not pass a variable of its environment on.
func (x *examination) withheld(name string) bool {
	switch x.client.ID {
	case "codex":
		return true
	case "gemini":
		return clients.GeminiDrops(name)
	case "claude-desktop":
		return true
	}
	return false
}

// variables returns the variables that the enabled servers refer to, sorted.
func (x *examination) variables() []string {
	var names []string
	for _, s := range setup.Enabled(x.config) {
		for name := range s.Refers {
			if !slices.Contains(names, name) && !reference.Ordinary(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// ofFolder warns of servers that depend on the folder in which toolman is started.
func (x *examination) ofFolder(e *clients.Entry) {
	if x.config == nil || e.Cwd != "" || x.client.ID != "claude-desktop" && x.client.ID != "codex" {
		return
	}
	var names []string
	for _, s := range setup.Enabled(x.config) {
		relative := func(word string) bool { return word == "." || strings.HasPrefix(word, "./") }
		if s.Dir == "" && slices.ContainsFunc(s.Argv, relative) {
			names = append(names, s.Name)
		}
	}
	if len(names) > 0 {
		x.add(diagnosis.Note, "cwd", `write cwd = "." into these servers, which is the folder of tools.toml`,
			"%s may start toolman in / or in its own folder, and these servers get a relative path: %s", x.client.Title, strings.Join(names, ", "))
	}
}

// duplicates finds servers that the client has beside toolman, and that toolman has too.
func (x *examination) duplicates(all []clients.Entry) {
	if x.config == nil {
		return
	}
	for i := range all {
		e := &all[i]
		if e.IsToolman || e.Disabled {
			continue
		}
		for _, s := range setup.Enabled(x.config) {
			if !sameServer(e, s) {
				continue
			}
			x.add(diagnosis.Note, "server-twice", fmt.Sprintf("take %s out at %s, or set enabled = false at %s:%d", e.Name, placeOf(e), x.config.Path, s.Line),
				"the client has the server %s itself (%s), and toolman has it as %s: its tools are there twice", e.Name, placeOf(e), s.Name)
			break
		}
	}
}

// sameServer reports whether an entry of a client starts or reaches the same as a server.
func sameServer(e *clients.Entry, s *config.Server) bool {
	if e.URL != "" {
		return s.Remote != nil && strings.TrimSuffix(e.URL, "/") == strings.TrimSuffix(s.Remote.URL, "/")
	}
	if e.Command == "" || len(s.Argv) == 0 {
		return false
	}
	return slices.Equal(words(append([]string{e.Command}, e.Args...)), words(s.Argv))
}

// words returns what tells a command from others: without the folder of the program, the flags of
// npx that answer its questions, and the versions of packages.
func words(argv []string) (all []string) {
	for i, w := range argv {
		if i == 0 {
			w = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(w), ".exe"), ".cmd")
		}
		if w == "-y" || w == "--yes" {
			continue
		}
		if at := strings.LastIndex(w, "@"); i > 0 && at > 0 {
			w = w[:at]
		}
		all = append(all, w)
	}
	return all
}
