package reference

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simpleCall returns the one command of file if it can be executed without a shell with the same
// effect, or nil.
func simpleCall(file *syntax.File) *syntax.CallExpr {
	if len(file.Stmts) == 0 {
		return &syntax.CallExpr{} // a comment alone
	}
	stmt := file.Stmts[0]
	if len(file.Stmts) > 1 || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0 {
		return nil
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || slices.ContainsFunc(call.Assigns, needsShellAssign) || slices.ContainsFunc(call.Args, needsShellWord) {
		return nil
	}
	if len(call.Args) > 0 && isBuiltin(call.Args[0].Lit()) {
		return nil
	}
	return call
}

// isBuiltin reports commands that only a shell has, and not those that are also programs (echo,
// test).
func isBuiltin(name string) bool {
	switch name {
	case ".", ":", "alias", "bg", "break", "builtin", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
		"getopts", "hash", "jobs", "local", "read", "readonly", "return", "set", "shift", "source", "times", "trap", "type",
		"ulimit", "umask", "unalias", "unset", "wait":
		return true
	}
	return false
}

func needsShellAssign(a *syntax.Assign) bool {
	if a.Append || a.Naked || a.Index != nil || a.Array != nil {
		return true
	}
	// A ~ after a colon would be expanded there, as in PATH=~/bin:~/more.
	return a.Value != nil && (needsShellWord(a.Value) || strings.Contains(a.Value.Lit(), ":~"))
}

func needsShellWord(w *syntax.Word) bool {
	return needsShell(w.Parts, false)
}

// needsShell reports whether parts hold anything but text, quotes and plain references. quoted
// means within double quotes.
func needsShell(parts []syntax.WordPart, quoted bool) bool {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !quoted && (hasSpecial(p.Value) || i == 0 && othersHome(p.Value)) {
				return true
			}
		case *syntax.SglQuoted:
			if p.Dollar || quoted {
				return true
			}
		case *syntax.DblQuoted:
			if p.Dollar || quoted || needsShell(p.Parts, true) {
				return true
			}
		case *syntax.ParamExp:
			if !plainReference(p, quoted) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// plainReference reports whether pe is $NAME, ${NAME} or ${NAME:-word} with a word that needs no
// shell.
func plainReference(pe *syntax.ParamExp, quoted bool) bool {
	if !plainName(pe) {
		return false
	}
	if pe.Exp == nil {
		return true
	}
	if pe.Exp.Op != syntax.DefaultUnsetOrNull {
		return false
	}
	return pe.Exp.Word == nil || !needsShell(pe.Exp.Word.Parts, quoted) && !(quoted && hasBackslash(pe.Exp.Word))
}

// hasBackslash reports a backslash as in "${NAME:-\}}", where it has another meaning than elsewhere
// in double quotes. For the same reason needsShell reports quotes there.
func hasBackslash(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, `\`)
	})
}

// plainName reports whether pe is the whole value of a variable.
func plainName(pe *syntax.ParamExp) bool {
	return !pe.Excl && !pe.Length && pe.Index == nil && pe.Slice == nil && pe.Repl == nil && pe.Names == 0 &&
		syntax.ValidName(pe.Param.Value)
}

// hasSpecial reports whether unquoted text has special meaning in a shell: a pattern, or a $ that
// belongs to no reference, as in $'…', which are quotes in some shells.
func hasSpecial(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[', '$':
			return true
		}
	}
	return false
}

// othersHome reports whether text begins with ~user.
func othersHome(text string) bool {
	rest, ok := strings.CutPrefix(text, "~")
	return ok && rest != "" && rest[0] != '/'
}
