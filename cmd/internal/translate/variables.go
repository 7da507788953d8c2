package translate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/config/reference"
	"toolman/mcpwire/sanitize"
)

// A Syntax is how a client writes variables in its configuration.
type Syntax string

// The syntaxes of clients.
const (
	None     Syntax = "none"     // text stays as it is
	Braces   Syntax = "braces"   // ${VAR}, ${VAR:-default}: Claude Code
	Prefixed Syntax = "prefixed" // ${env:VAR}, ${workspaceFolder}, ${input:ID}: VS Code and its relatives
	EnvFile  Syntax = "envfile"  // ${env:VAR} and ${file:path}: Windsurf
	Dollar   Syntax = "dollar"   // $VAR, ${VAR}, ${VAR:-default}, and %VAR% on Windows: Gemini CLI
	Curly    Syntax = "curly"    // {env:VAR}, {file:path}: OpenCode
	Shell    Syntax = "shell"    // as Dollar, and $(command), which toolman does not run: Crush
	Secrets  Syntax = "secrets"  // ${{ secrets.NAME }}: Continue
)

// SyntaxOf returns the syntax of a client. A client that is not known replaces nothing.
func SyntaxOf(client string) Syntax {
	switch client {
	case "claude-code", "copilot-cli", "kiro":
		return Braces
	case "vscode", "cursor", "kilo":
		return Prefixed
	case "windsurf":
		return EnvFile
	case "gemini":
		return Dollar
	case "opencode":
		return Curly
	case "crush":
		return Shell
	case "continue":
		return Secrets
	}
	return None
}

// A Context is what variables of clients depend on, besides the environment.
type Context struct {
	OS      string // as runtime.GOOS
	Project string // the folder that ${workspaceFolder} stands for; "" if it is another in each window
	Dir     string // the folder of the client's file, for paths in it
	Home    string
}

// A text is a value of tools.toml that is made of literal parts and references.
type text struct {
	out     strings.Builder
	literal string // not yet in out
	// inputs are the questions of the client by the variables that stand for them, as the client
	// writes them.
	inputs []Input
	notes  []string
}

// An Input is a value that a client asks for.
type Input struct {
	Name string // of the variable
	Text string // as the client refers to it: ${input:id}
}

// write adds literal text.
func (t *text) write(s string) { t.literal += s }

// flush writes the literal text with its ${ escaped.
func (t *text) flush() {
	t.out.WriteString(Escape(t.literal))
	t.literal = ""
}

// refer adds ${ref}.
func (t *text) refer(ref string) error {
	if strings.HasSuffix(t.literal, "$") {
		return errors.New("a $ stands directly before a variable, which tools.toml cannot say")
	}
	t.flush()
	t.out.WriteString("${" + ref + "}")
	return nil
}

// Escape returns text that stands for itself in tools.toml.
func Escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// orEmpty returns the reference to a variable that the client takes for empty if it is not set. One
// that is a secret has to be set: without it the server would fail, and nobody would know why.
func orEmpty(name string) string {
	if reference.IsSecretName(name) {
		return name
	}
	return name + ":-"
}

// variable adds a reference NAME or NAME:-default, or the text as it stands if there is no variable
// of that name.
func (t *text) variable(whole, ref string) error {
	name, otherwise, has := strings.Cut(ref, ":-")
	switch {
	case !syntax.ValidName(name) && has: // no such variable is ever set
		t.write(otherwise)
		return nil
	case !syntax.ValidName(name):
		t.write(whole)
		return nil
	case strings.Contains(otherwise, "${"):
		return fmt.Errorf("the default of %s holds ${", name)
	case has:
		return t.refer(name + ":-" + otherwise)
	}
	return t.refer(name)
}

// A pattern finds references of one syntax.
type pattern struct {
	find    *regexp.Regexp
	replace func(t *text, c Context, found []string) error
}

// patternOf returns the pattern of a syntax, or false for one without variables.
func patternOf(s Syntax) (p pattern, ok bool) {
	find := ""
	switch s {
	case Braces:
		find, p.replace = `\$\{([^}]+)\}`, braces
	case Prefixed:
		find, p.replace = `\$\{([^}]+)\}`, prefixed
	case EnvFile:
		find, p.replace = `\$\{(env|file):([^}]+)\}`, envOrFile
	case Dollar:
		find, p.replace = `\$(?:(\w+)|\{([^}]+)\})|%(\w+)%`, dollar
	case Curly:
		find, p.replace = `\{(env|file):([^}]+)\}`, envOrFile
	case Shell:
		find, p.replace = `\$(?:(\w+)|\{([^}]+)\}|\()`, dollar
	case Secrets:
		find, p.replace = `\$\{\{\s*(?:secrets\.)?([^}\s]+)\s*\}\}`, secret
	default:
		return p, false
	}
	p.find = regexp.MustCompile(find)
	return p, true
}

// A Value is a translated text.
type Value struct {
	Text   string
	Inputs []Input
	Notes  []string
}

// Text translates a text of a client's configuration. An error says what of it cannot be written in
// tools.toml.
func Text(s Syntax, c Context, written string) (Value, error) {
	t := &text{}
	if strings.ContainsRune(written, 0) {
		return Value{}, errors.New("it holds a NUL character")
	}
	if p, ok := patternOf(s); ok {
		done := 0
		for _, at := range p.find.FindAllStringSubmatchIndex(written, -1) {
			t.write(written[done:at[0]])
			var found []string
			for i := 0; i < len(at); i += 2 {
				part := ""
				if at[i] >= 0 {
					part = written[at[i]:at[i+1]]
				}
				found = append(found, part)
			}
			if err := p.replace(t, c, found); err != nil {
				return Value{}, err
			}
			done = at[1]
		}
		written = written[done:]
	}
	t.write(written)
	t.flush()
	return Value{t.out.String(), t.inputs, t.notes}, nil
}

func braces(t *text, _ Context, found []string) error { return t.variable(found[0], found[1]) }

func dollar(t *text, c Context, found []string) error {
	switch {
	case found[0] == "$(":
		return errors.New("it runs a command, $(…)")
	case len(found) > 3 && found[3] != "" && c.OS != "windows":
		t.write(found[0])
		return nil
	case len(found) > 3 && found[3] != "":
		return t.variable(found[0], found[3])
	}
	return t.variable(found[0], cmp.Or(found[1], found[2]))
}

func prefixed(t *text, c Context, found []string) error {
	kind, name, _ := strings.Cut(found[1], ":")
	switch kind {
	case "env":
		if !syntax.ValidName(name) {
			return fmt.Errorf("no variable can be called %s", sanitize.Quoted(name, 60))
		}
		return t.refer(orEmpty(name))
	case "input":
		variable := VariableName(name)
		if variable == "" {
			return fmt.Errorf("no variable can be called like the input %s", sanitize.Quoted(name, 60))
		}
		t.inputs = append(t.inputs, Input{variable, found[0]})
		return t.refer(variable)
	case "userHome":
		return t.refer(homeVariable(c.OS))
	case "workspaceFolder", "workspaceRoot", "workspaceFolderBasename", "cwd":
		if c.Project == "" {
			return errors.New(found[0] + " is another folder in each window; add the server to the tools.toml of a project")
		}
		if kind == "workspaceFolderBasename" {
			t.write(filepath.Base(c.Project))
			return nil
		}
		t.notes = append(t.notes, found[0]+" is written as "+c.Project)
		t.write(c.Project)
	case "pathSeparator", "/":
		t.write(string(separator(c.OS)))
	case "config", "command", "extensionInstallFolder", "userDataFolder":
		return errors.New(sanitize.Line(found[0]) + " is known to the client alone")
	default:
		t.write(found[0])
	}
	return nil
}

func separator(goos string) rune {
	if goos == "windows" {
		return '\\'
	}
	return '/'
}

func homeVariable(goos string) string {
	if goos == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

func envOrFile(t *text, c Context, found []string) error {
	kind, name := found[1], found[2]
	switch {
	case kind == "env" && !syntax.ValidName(name):
		return fmt.Errorf("no variable can be called %s", sanitize.Quoted(name, 60))
	case kind == "env":
		return t.refer(orEmpty(name))
	case strings.Contains(name, "${"):
		return errors.New("the path of a file holds a ${")
	case strings.HasPrefix(name, "~/"), filepath.IsAbs(name):
	default:
		name = filepath.Join(c.Dir, name)
	}
	return t.refer("file:" + name)
}

func secret(t *text, _ Context, found []string) error {
	name := VariableName(found[1])
	if name == "" {
		return fmt.Errorf("no variable can be called %s", sanitize.Quoted(found[1], 60))
	}
	t.notes = append(t.notes, name+" has to be set where toolman is started: the client keeps its value elsewhere")
	return t.refer(name)
}

// VariableName returns a name in the form of an environment variable, or "".
func VariableName(name string) string {
	up := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
	if up = strings.Trim(up, "_"); !syntax.ValidName(up) {
		return ""
	}
	return up
}
