package reference

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
)

// maxNesting bounds defaults within defaults.
const maxNesting = 8

// A Resolver replaces the references of one file.
type Resolver struct {
	*source.Problems
	Dir         string                           // the file's folder, absolute
	LookupEnv   func(name string) (string, bool) // toolman's environment
	SessionKeys []string                         // the keys that ${session.KEY} may have

	secrets  []string
	known    map[string]bool // what secrets has
	fromFile int             // bytes that ${file:…} has read
}

// A Scope is the place of a string in the file, and what its references see. It records the secrets
// among the values of references; its messages hold none.
type Scope struct {
	*Resolver
	Line       int
	Key        string
	Env        map[string]string      // the server's env, if the string sees it
	SessionEnv map[string]bool        // variables of the server's env that are different in each session
	Inherits   func(name string) bool // whether a shell that runs the command inherits a variable; nil if none runs
	Open       bool                   // values of variables are secrets only if their names say so
}

// Fail adds a problem with the string.
func (sc Scope) Fail(hint, format string, args ...any) {
	sc.Problems.Fail(sc.Line, hint, "%s: %s", sanitize.Line(sc.Key), fmt.Sprintf(format, args...))
}

// missing adds a problem with something outside the file that the string refers to.
func (sc Scope) missing(hint, format string, args ...any) {
	sc.Problems.Missing(sc.Line, hint, "%s: %s", sanitize.Line(sc.Key), fmt.Sprintf(format, args...))
}

// failNew adds a problem, unless there are more problems than before, one of which is the cause.
func (sc Scope) failNew(before int, hint, msg string) {
	if sc.Count() == before {
		sc.Fail(hint, "%s", msg)
	}
}

// lookup returns the value of a variable.
func (sc Scope) lookup(name string) (string, bool) {
	if sc.SessionEnv[name] {
		sc.Fail("let the server read the variable", "it refers to %s, which env has from ${session.…}: a client could change what is run", name)
		return "", true
	}
	if v, ok := sc.Env[name]; ok {
		return v, true
	}
	value, ok := sc.LookupEnv(name)
	if !sc.Open || IsSecretName(name) {
		sc.inserted(name, value)
	}
	return value, ok
}

// unset adds a problem with a variable that has no value. orElse is another solution.
func (sc Scope) unset(name, orElse string) {
	sc.missing(fmt.Sprintf("set it where toolman is started, or write ${%s:-default}%s", name, orElse), "the variable %s is not set", name)
}

// clean adds a problem with a value that cannot be given to a process.
func (sc Scope) clean(value string) string {
	if strings.Contains(value, "\x00") {
		sc.Fail("take it out", "it holds a NUL character")
	}
	return value
}

// home returns the folder that a leading ~ stands for.
func (sc Scope) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if v, ok := sc.lookup(name); ok {
			return v
		}
	}
	sc.missing("write the folder out", "~ stands for the home folder and HOME is not set")
	return ""
}

// Absolute returns a path that may begin with ~ or be relative to the configuration's folder.
func (sc Scope) Absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = sc.home() + rest
	}
	switch {
	case filepath.IsAbs(path):
	case path != "" && os.IsPathSeparator(path[0]): // Windows: on the drive of the configuration
		path = filepath.VolumeName(sc.Dir) + path
	default:
		path = filepath.Join(sc.Dir, path)
	}
	return filepath.Clean(path)
}

// Path returns a path with its references replaced, made absolute. hint is for one whose value is
// empty.
func (sc Scope) Path(written, hint string) string {
	before := sc.Count()
	path := sc.Expand(written)
	if path == "" {
		sc.failNew(before, hint, "it is empty")
		return ""
	}
	return sc.Absolute(path)
}

// Expand returns a string with its references replaced. Commands have [Scope.Command].
func (sc Scope) Expand(s string) string { return sc.clean(sc.replace(s, 0)) }

func (sc Scope) replace(s string, depth int) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "${")
		if !found {
			b.WriteString(s)
			return b.String()
		}
		if literal, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(literal + "${")
			s = after
			continue
		}
		b.WriteString(before)
		end := closing(after)
		if end < 0 {
			sc.Fail("close it with }, or write $${ for a literal ${", "a ${ is not closed")
			return ""
		}
		b.WriteString(sc.reference(after[:end], depth))
		s = after[end+1:]
	}
}

// closing returns the offset of the } that ends a reference, or -1.
func closing(s string) int {
	open := 1
	for i := range len(s) {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			open++
		case s[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// reference returns the value of what stands between ${ and }.
func (sc Scope) reference(ref string, depth int) string {
	if path, ok := strings.CutPrefix(ref, "file:"); ok {
		return sc.file(path)
	}
	if strings.HasPrefix(ref, "session.") {
		sc.Fail("write it by itself into a value of env or headers", "${session.…} cannot stand here")
		return ""
	}
	if hint := ofClients(ref); hint != "" {
		sc.Fail(hint, "${%s} is known to clients only", sanitize.Line(ref))
		return ""
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	if !syntax.ValidName(name) { // which may be a secret itself
		sc.Fail("write ${NAME}, ${NAME:-default} or ${file:path}; a literal ${ is written $${", "a ${…} holds no variable's name")
		return ""
	}
	value, ok := sc.lookup(name)
	switch {
	case hasFallback && value == "" && depth == maxNesting:
		sc.Fail("simplify it", "defaults are nested too deep")
	case hasFallback && value == "":
		value = sc.replace(fallback, depth+1)
		sc.Named(name, value)
	case !ok:
		sc.unset(name, "")
	}
	return value
}

// ofClients returns what to write instead of a reference that only MCP clients know, or "".
func ofClients(ref string) string {
	switch ref {
	case "workspaceFolder", "workspaceRoot", "workspaceFolderBasename":
		return "write the folder out"
	case "userHome":
		return "write ${HOME}"
	case "pathSeparator", "/":
		return "write the character"
	}
	if name, ok := strings.CutPrefix(ref, "input:"); ok && syntax.ValidName(strings.ReplaceAll(name, "-", "_")) {
		name = strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		return "write ${" + name + "}, and set that variable where toolman is started"
	}
	return ""
}

// file returns the content of a file without the line end at its end.
func (sc Scope) file(path string) string {
	const hint = "a path is absolute, from ~/, or against the folder of this file"
	if path == "" || strings.Contains(path, "${") {
		sc.Fail(hint, "a ${file:…} needs a plain path")
		return ""
	}
	text, err := readRegular(sc.Absolute(path))
	if err != nil {
		sc.missing(hint, "the file %s cannot be read: %s", source.Shown(path), source.Reason(err))
		return ""
	}
	if sc.fromFile += len(text); sc.fromFile > source.MaxBytes {
		sc.Fail("name smaller files", "the files read by ${file:…} come to more than %d bytes", source.MaxBytes)
		return ""
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	sc.Secret(value)
	return value
}

// readRegular reads a file, but no pipe or device: toolman must not wait for one at its start.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return source.Read(path, source.MaxBytes)
}

// Variables are names of environment variables, as [VariableName] returns them.
type Variables map[string]bool

// VariableName returns a name in capitals on Windows, where case does not count.
func VariableName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// VariablesIn returns the variables that strings in n refer to, as $NAME, ${NAME…} or ${env:NAME…}.
// These include references that are not replaced: those of a server that is not enabled, and those
// in quotes, which may be for a shell that the command runs.
func VariablesIn(n source.Node) Variables {
	all := Variables{}
	all.add(n)
	return all
}

func (all Variables) add(n source.Node) {
	const inNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	switch v := n.Value.(type) {
	case []source.Member:
		for _, m := range v {
			all.add(m.Node)
		}
	case []source.Node:
		for _, n := range v {
			all.add(n)
		}
	case string:
		for _, text := range strings.Split(v, "$")[1:] {
			text = strings.TrimPrefix(text, "{env:")
			text = strings.TrimLeft(text, "{#!") // ${#NAME} and ${!NAME} are for shells
			name := text[:len(text)-len(strings.TrimLeft(text, inNames))]
			if syntax.ValidName(name) {
				all[VariableName(name)] = true
			}
		}
	}
}
