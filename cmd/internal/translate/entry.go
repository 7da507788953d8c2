package translate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire/sanitize"

	"mvdan.cc/sh/v3/syntax"
)

// A Translation is a server of a client as tools.toml has it.
type Translation struct {
	Server  toolsfile.Server
	Secrets []Secret // for which variables stand
	Inputs  []Input  // for which the client asks
	Notes   []string // what is different, or needs attention

	key strings.Builder
}

// Key identifies what the server is, whatever it is called: two of the same key are the same server.
func (t *Translation) Key() string { return t.key.String() }

// A translator translates one entry.
type translator struct {
	Translation
	syntax    Syntax
	context   Context
	namespace string
	names     *Variables
	err       error // the first one
}

// Server translates an entry into a server of a namespace. names has what other servers call their
// secrets. An error says why the server cannot be in tools.toml.
func Server(e clients.Entry, c Context, namespace string, names *Variables) (*Translation, error) {
	t := &translator{syntax: SyntaxOf(e.File.Client.ID), context: c, namespace: namespace, names: names}
	t.Translation.Server.Namespace = namespace
	if strings.TrimSpace(e.Command) == "" {
		e.Command = ""
	}
	switch {
	case e.Command == "" && e.URL == "":
		return nil, errors.New("it has neither a command nor a URL")
	case !knownType(e.Type):
		return nil, fmt.Errorf("toolman does not know its type %s", sanitize.Quoted(e.Type, 40))
	}
	if err := t.unknown(e); err != nil {
		return nil, err
	}
	if e.Command != "" {
		t.process(e)
	} else {
		t.remote(e)
	}
	return &t.Translation, t.err
}

func knownType(name string) bool {
	switch strings.ToLower(name) {
	case "", "stdio", "local", "http", "sse", "streamable-http", "streamablehttp", "streamable_http", "remote", "custom":
		return true
	}
	return false
}

// unknown notes the keys of the client that tools.toml does not have.
func (t *translator) unknown(e clients.Entry) error {
	for _, key := range e.Unknown {
		switch strings.ToLower(key) {
		case "alwaysallow", "alwaysload", "autoapprove", "dev", "gallery", "timeout", "trust", "version", "required", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec",
			"supports_parallel_tool_calls", "icon", "iconpath", "id", "metadata", "note", "comment", "displayname", "available_tools", "chat_template", "bundled":
		case "oauth", "auth":
			return errors.New("the client logs in to it in a way of its own (" + key + "); toolman help login says how toolman does")
		case "authprovidertype", "headershelper", "oauth_resource", "authorization":
			return errors.New("the client gets credentials for it (" + key + "), as toolman does not")
		case "sandbox", "sandboxenabled", "sandboxenv":
			return errors.New("the client runs it in a sandbox (" + key + "), which toolman does not have")
		case "tools", "includetools", "excludetools", "enabled_tools", "disabled_tools", "disabledtools":
			t.note("%s is not carried over: write exposed_tools to offer less of it (toolman help policies)", sanitize.Line(key))
		default:
			t.note("%s is not carried over", sanitize.Line(key))
		}
	}
	return nil
}

func (t *translator) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
}

// fail keeps the first error.
func (t *translator) fail(where string, err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("%s: %w", where, err)
	}
}

// text translates a text that may have secrets, for which a variable of the wanted name stands.
func (t *translator) text(where, name, want, written string) string {
	v, err := Text(t.syntax, t.context, written)
	t.fail(where, err)
	t.key.WriteString("\x00" + v.Text)
	for _, in := range v.Inputs {
		if !slices.Contains(t.Inputs, in) {
			t.Inputs = append(t.Inputs, in)
		}
		t.note("%s is what the client asks for as %s", in.Name, sanitize.Line(in.Text))
	}
	for _, note := range v.Notes {
		t.note("%s", sanitize.Line(note))
	}
	literal := v.Text == Escape(written)
	if !literal || !IsSecret(name, written) {
		t.take(v.Text)
		return v.Text
	}
	scheme := ""
	if first, rest, ok := strings.Cut(written, " "); ok && slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(first)) {
		scheme, written = first+" ", strings.TrimSpace(rest)
	}
	return scheme + t.secret(want, written, "")
}

// take notes the variables of a text as taken by the environment.
func (t *translator) take(text string) {
	for _, part := range strings.Split(text, "${")[1:] {
		name, _, _ := strings.Cut(part, "}")
		name, _, _ = strings.Cut(name, ":-")
		if syntax.ValidName(name) {
			t.names.Take(name)
		}
	}
}

// secret returns a reference to the variable that stands for a value.
func (t *translator) secret(want, value, file string) string {
	name := t.names.Name(cmp.Or(VariableName(want), "SECRET"), t.namespace, value)
	if s := (Secret{name, value, file}); !slices.Contains(t.Secrets, s) {
		t.Secrets = append(t.Secrets, s)
	}
	return "${" + name + "}"
}

// of returns the name of a variable that belongs to the server.
func (t *translator) of(name string) string {
	return cmp.Or(VariableName(t.namespace), "SERVER") + "_" + name
}

// process translates a server that is started.
func (t *translator) process(e clients.Entry) {
	s := &t.Translation.Server
	command, args := e.Command, e.Args
	if len(args) == 0 && strings.ContainsAny(command, " \t") && !strings.ContainsAny(command, `/\`) {
		if strings.ContainsAny(command, "\"'|&;<>*?()$`") {
			t.fail("command", errors.New("it is a command line and no program; write the program into command and the rest into args"))
		}
		words := strings.Fields(command)
		command, args = words[0], words[1:]
	}
	s.Command = t.text("command", "", t.of("COMMAND"), command)
	s.Args = []string{}
	for i, arg := range args {
		s.Args = append(s.Args, t.argument(args[:i], arg))
	}
	t.key.WriteString("\x01")
	for _, p := range sorted(e.Env) {
		s.Env = append(s.Env, toolsfile.Pair{Name: p.Name, Value: t.text("env."+p.Name, p.Name, p.Name, p.Value)})
		t.key.WriteString("\x00" + p.Name)
	}
	for _, name := range e.EnvNames {
		if !syntax.ValidName(name) || slices.ContainsFunc(s.Env, func(p toolsfile.Pair) bool { return p.Name == name }) {
			continue
		}
		t.passed(e, name)
	}
	if e.EnvFile != "" {
		t.fail("envFile", t.envFile(e.EnvFile))
	}
	s.Cwd = t.cwd(e)
	t.key.WriteString("\x00" + s.Cwd)
}

// passed adds a variable that the client passes on by its name.
func (t *translator) passed(e clients.Entry, name string) {
	s := &t.Translation.Server
	s.Env = append(s.Env, toolsfile.Pair{Name: name, Value: "${" + orEmpty(name) + "}"})
	t.names.Take(name)
	t.key.WriteString("\x00" + name + "\x00${" + orEmpty(name) + "}")
	if e.File.Client.ID == "goose" {
		t.note("%s has to be set where toolman is started: Goose keeps its value in the keyring", name)
	}
}

// sorted returns pairs in the order of their names, so that two clients' are comparable.
func sorted(pairs []clients.Pair) []clients.Pair {
	all := slices.Clone(pairs)
	slices.SortStableFunc(all, func(a, b clients.Pair) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// argument translates an argument, of which all or a part can be a secret.
func (t *translator) argument(before []string, arg string) string {
	if name, value := secretIn(before, arg); value != "" {
		rest := strings.TrimSuffix(arg, value)
		t.key.WriteString("\x00" + rest)
		return Escape(rest) + t.text("args", "TOKEN", t.variableOf(name), value)
	}
	want := t.of("TOKEN")
	if strings.Contains(arg, "://") {
		want = t.of("URL")
	}
	return t.text("args", "", want, arg)
}

// variableOf returns the name of a variable for the value of a header or flag.
func (t *translator) variableOf(name string) string {
	if strings.EqualFold(name, "authorization") {
		return t.of("TOKEN")
	}
	return t.of(strings.TrimPrefix(strings.ToUpper(name), "X-"))
}

// cwd translates the working directory. A server of a project whose arguments are relative is
// started in the project, wherever toolman is started.
func (t *translator) cwd(e clients.Entry) string {
	relative := func(s string) bool { return s == "." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") }
	if e.Cwd == "" {
		if e.File.Scope != clients.User && (relative(e.Command) || slices.ContainsFunc(e.Args, relative)) {
			return "."
		}
		return ""
	}
	cwd := t.text("cwd", "", "", e.Cwd)
	if !filepath.IsAbs(cwd) && !strings.HasPrefix(cwd, "~") && !strings.HasPrefix(cwd, "${") && e.File.Scope == clients.User {
		cwd = filepath.Join(t.context.Home, cwd)
	}
	return cwd
}

// remote translates a server at a URL.
func (t *translator) remote(e clients.Entry) {
	s := &t.Translation.Server
	s.URL = t.text("url", "", t.of("URL"), e.URL)
	if !strings.Contains(s.URL, "${") && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
		t.fail("url", errors.New("it does not begin with http:// or https://"))
	}
	t.key.WriteString("\x01")
	for _, p := range sorted(e.Headers) {
		s.Headers = append(s.Headers, toolsfile.Pair{Name: p.Name, Value: t.text("headers."+p.Name, p.Name, t.variableOf(p.Name), p.Value)})
		t.key.WriteString("\x00" + p.Name)
	}
	for _, p := range e.HeaderEnv {
		scheme, name := "", p.Value
		if first, rest, ok := strings.Cut(p.Value, " "); ok {
			scheme, name = first+" ", rest
		}
		if !syntax.ValidName(name) {
			t.fail("headers."+p.Name, errors.New("it names no variable"))
			continue
		}
		t.names.Take(name)
		value := scheme + "${" + name + "}"
		s.Headers = append(s.Headers, toolsfile.Pair{Name: p.Name, Value: value})
		t.key.WriteString("\x00" + value + "\x00" + p.Name)
	}
}
