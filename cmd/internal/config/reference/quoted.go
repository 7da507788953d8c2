package reference

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// quotedReference matches a reference in a text.
var quotedReference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)
})

// warnQuoted adds a warning about each reference in single quotes, where nothing is replaced. A
// program for an interpreter, after -c or -e, may have references of its own.
func (sc Scope) warnQuoted(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for _, a := range call.Assigns {
			if a.Value != nil {
				sc.warnQuotedIn(a.Value)
			}
		}
		for i, word := range call.Args {
			if i == 0 || !takesProgram(call.Args[i-1].Lit()) {
				sc.warnQuotedIn(word)
			}
		}
		return true
	})
}

// takesProgram reports whether a flag of interpreters is followed by a program.
func takesProgram(flag string) bool {
	switch flag {
	case "-c", "-e", "-p", "-pe", "--eval", "--print", "-lc", "-ec", "-ic":
		return true
	}
	return false
}

func (sc Scope) warnQuotedIn(word *syntax.Word) {
	for _, part := range word.Parts {
		quoted, ok := part.(*syntax.SglQuoted)
		if !ok || quoted.Dollar {
			continue
		}
		for _, found := range quotedReference().FindAllStringSubmatch(quoted.Value, -1) {
			name := found[1]
			if strings.HasPrefix(name, standIn) {
				name = "file:…"
			}
			sc.Warn(sc.Line, `write \"${`+name+`}\", in double quotes; a literal ${ is also \\${ without quotes`,
				"%s: ${%s} stands in single quotes, where nothing is replaced", sc.Key, name)
		}
	}
}
