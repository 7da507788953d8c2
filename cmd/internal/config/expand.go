package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/mcpwire/sanitize"
)

// maxReferences bounds defaults within defaults.
const maxReferences = 8

// A scope is where a string of a server stands and what its references see. It notes every value that a reference
// brings in as a secret, and its messages hold none.
type scope struct {
	d         *decoder
	line      int
	key       string
	env       map[string]string      // the server's env; nil where it is not seen
	ofSession map[string]bool        // what of the server's env is another for each session, and cannot be seen here
	inherits  func(name string) bool // whether a shell that runs the command gets the variable from toolman; nil where none runs
}

func (sc scope) fail(hint, format string, args ...any) {
	sc.d.fail(sc.line, hint, "%s: %s", sanitize.Line(sc.key), fmt.Sprintf(format, args...))
}

// nothing notes what it means that a value came to nothing, unless a problem noted since says why. before is the number
// of problems there were.
func (sc scope) nothing(before int, hint, msg string) {
	if len(sc.d.problems) == before {
		sc.fail(hint, "%s", msg)
	}
}

func (sc scope) lookup(name string) (string, bool) {
	if sc.ofSession[name] {
		sc.fail("have the server read the variable", "it refers to %s, which env has from ${session.…}: whoever connects would write a part of what is run", name)
		return "", true
	}
	if v, ok := sc.env[name]; ok {
		return v, true
	}
	return sc.d.LookupEnv(name)
}

// unset notes a variable without a value. orElse is one more way out.
func (sc scope) unset(name, orElse string) {
	sc.fail(fmt.Sprintf("set it where toolman is started, or write ${%s:-default}%s", name, orElse), "the variable %s is not set", name)
}

// clean notes a value that no process could be given.
func (sc scope) clean(value string) string {
	if strings.Contains(value, "\x00") {
		sc.fail("take it out", "it holds a NUL character")
	}
	return value
}

// home is what a leading ~ stands for.
func (sc scope) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if v, ok := sc.lookup(name); ok {
			return v
		}
	}
	sc.fail("write the folder out", "~ stands for the home folder and HOME is not set")
	return ""
}

// absolute is path from the home folder if it begins with ~, and against the configuration's folder if it is relative.
func (sc scope) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = sc.home() + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(sc.d.dir, path)
	}
	return filepath.Clean(path)
}

// path is a path as written with its references replaced, made absolute. hint is for one that comes to nothing.
func (sc scope) path(written, hint string) string {
	before := len(sc.d.problems)
	path := sc.clean(sc.expand(written))
	if path == "" {
		sc.nothing(before, hint, "it comes to nothing")
		return ""
	}
	return sc.absolute(path)
}

// expand replaces the references in s. This is for env and cwd; commands have their own in words.go.
func (sc scope) expand(s string) string {
	return sc.replace(s, 0)
}

func (sc scope) replace(s string, depth int) string {
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
			sc.fail("close it with }, or write $${ for a literal ${", "a ${ is not closed")
			return ""
		}
		b.WriteString(sc.reference(after[:end], depth))
		s = after[end+1:]
	}
}

// closing is the offset of the } that ends a reference, or -1.
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

// reference is the value of what stands between ${ and }.
func (sc scope) reference(ref string, depth int) string {
	if path, ok := strings.CutPrefix(ref, "file:"); ok {
		return sc.file(path)
	}
	if strings.HasPrefix(ref, "session.") {
		sc.fail("write it by itself into a value of env or headers", "${session.…} cannot stand here")
		return ""
	}
	name, fallback, hasFallback := strings.Cut(ref, ":-")
	if !syntax.ValidName(name) {
		// What stands there may be a secret itself.
		sc.fail("write ${NAME}, ${NAME:-default} or ${file:path}; a literal ${ is written $${", "a ${…} holds no variable's name")
		return ""
	}
	value, ok := sc.lookup(name)
	switch {
	case hasFallback && value == "" && depth == maxReferences:
		sc.fail("simplify it", "defaults are nested too deep")
	case hasFallback && value == "":
		value = sc.replace(fallback, depth+1)
	case !ok:
		sc.unset(name, "")
	}
	sc.d.secret(value)
	return value
}

// file is what a file holds, without the line end at its end.
func (sc scope) file(path string) string {
	if path == "" || strings.Contains(path, "${") {
		sc.fail("a path is absolute, from ~/, or against the folder of this file", "a ${file:…} needs a plain path")
		return ""
	}
	text, err := readRegular(sc.absolute(path))
	if err != nil {
		sc.fail("a path is absolute, from ~/, or against the folder of this file", "the file %s cannot be read: %s", shown(path), reason(err))
		return ""
	}
	if sc.d.fromFile += len(text); sc.d.fromFile > maxFileBytes {
		sc.fail("name smaller files", "the files read by ${file:…} come to more than %d bytes", maxFileBytes)
		return ""
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	sc.d.secret(value)
	return value
}

// readRegular reads a file, and no pipe or device: waiting for one would hold up the start.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return read(path)
}
