package reference

import (
	"maps"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellWords expands the words of a simple command. Each stays one word, whatever the values of its
// references.
type shellWords struct {
	Scope
	files map[string]string // by the variable that stands for it, the path of a ${file:path}
}

// call returns what to execute, and the variables assigned before it. As in a shell, the arguments
// do not see these variables, and each assignment sees the ones before it.
func (w shellWords) call(call *syntax.CallExpr) (argv, env []string) {
	before := w.Count()
	for _, word := range call.Args {
		value := w.clean(w.join(word.Parts, false))
		if value != "" || !vanishes(word.Parts) {
			argv = append(argv, value)
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		w.failNew(before, "name the program to start", "it names no program")
		return nil, nil
	}
	server := w.Env
	w.Env = map[string]string{}
	maps.Copy(w.Env, server)
	for _, a := range call.Assigns {
		value := ""
		if a.Value != nil {
			value = w.clean(w.join(a.Value.Parts, false))
		}
		w.Named(a.Name.Value, value)
		w.Env[a.Name.Value] = value
		env = append(env, a.Name.Value+"="+value)
	}
	return argv, env
}

// vanishes reports whether a word is left out if its value is empty: it has no quotes and no text.
func vanishes(parts []syntax.WordPart) bool {
	for _, part := range parts {
		pe, ok := part.(*syntax.ParamExp)
		if !ok || pe.Exp != nil && pe.Exp.Word != nil && !vanishes(pe.Exp.Word.Parts) {
			return false
		}
	}
	return true
}

// join returns the text of parts. quoted means within double quotes.
func (w shellWords) join(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text := p.Value
			if !quoted && i == 0 && startsAtHome(text, len(parts)) {
				b.WriteString(w.home())
				text = text[1:]
			}
			b.WriteString(w.literal(text, quoted))
		case *syntax.SglQuoted:
			b.WriteString(w.asWritten(p.Value))
		case *syntax.DblQuoted:
			b.WriteString(w.join(p.Parts, true))
		case *syntax.ParamExp:
			b.WriteString(w.param(p, quoted))
		}
	}
	return b.String()
}

// startsAtHome reports whether the first of n parts begins with a ~ that stands for the home
// folder.
func startsAtHome(text string, n int) bool {
	return text == "~" && n == 1 || strings.HasPrefix(text, "~/")
}

// literal removes the backslashes from text.
func (w shellWords) literal(text string, quoted bool) string {
	text = w.asWritten(text)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && escapes(runtime.GOOS, text[i+1], quoted) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// escapes reports whether a backslash before a character is taken away. Within double quotes it
// stands for itself before most characters (POSIX shell, 2.2.3), and on Windows also elsewhere
// before those that need no backslash, as in C:\tools\server.exe.
func escapes(goos string, c byte, quoted bool) bool {
	if quoted {
		return strings.IndexByte("\\$`\"", c) >= 0
	}
	ordinary := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80 || strings.IndexByte("._-@", c) >= 0
	return goos != "windows" || !ordinary
}

// asWritten restores file references where quotes make them literal.
func (w shellWords) asWritten(text string) string {
	if !strings.Contains(text, standIn) {
		return text
	}
	for name, path := range w.files {
		text = strings.ReplaceAll(text, "{"+name+"}", "{file:"+path+"}")
	}
	return text
}

// param returns the value of a reference.
func (w shellWords) param(pe *syntax.ParamExp, quoted bool) string {
	name := pe.Param.Value
	if path, ok := w.files[name]; ok {
		return w.file(path)
	}
	value, ok := w.lookup(name)
	switch {
	case pe.Exp != nil && value == "":
		if pe.Exp.Word != nil {
			value = w.join(pe.Exp.Word.Parts, quoted)
			w.Named(name, value)
		}
	case !ok:
		w.unset(name, "")
	}
	return value
}
