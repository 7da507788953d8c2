package reference

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"toolman/mcpwire/sanitize"
)

// maxCommandBytes is the longest argument on every system. It also bounds the nesting of shell
// syntax.
const maxCommandBytes = 32 << 10

// Program returns the program of a command whose arguments are given apart: the text is not split.
func (sc Scope) Program(text string) []string {
	before := sc.Count()
	program := sc.Expand(text)
	switch {
	case program == "":
		sc.failNew(before, "name the program to start", "it names no program")
		return nil
	case strings.ContainsAny(text, " \t") && !strings.ContainsAny(text, `/\`):
		sc.Fail("move the arguments to args, or write all in command and leave args out", "with args it is the name of a program, which has no spaces")
	case strings.HasPrefix(program, "~/"):
		program = sc.home() + program[1:]
	}
	return []string{program}
}

// Command turns a command into what to execute and the variables assigned before it.
func (sc Scope) Command(text string) (argv, env []string) {
	if len(text) > maxCommandBytes {
		sc.Fail("put it into a script", "it is longer than %d bytes", maxCommandBytes)
		return nil, nil
	}
	sc.clean(text)
	if len(sessionReferences(text)) > 0 {
		sc.Fail("set it in env, and let the server read the variable", "${session.…} cannot stand in a command: a client could change what is run")
		return nil, nil
	}
	text = strings.ReplaceAll(text, "${env:", "${") // as clients write it
	standing, files := standIns(text)
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(standing), "")
	if err != nil {
		at, why, _ := strings.Cut(sanitize.Line(err.Error()), ": ")
		sc.Fail("quote special characters; for the syntax of another shell write bash -c '…'", "it is no shell command: %s (at %s in it)", why, at)
		return nil, nil
	}
	sc.warnQuoted(file)
	if call := simpleCall(file); call != nil {
		return shellWords{Scope: sc, files: files}.call(call)
	}
	if len(files) > 0 {
		sc.Fail("set a variable in env to the ${file:…} and write it as \"$NAME\" here", "${file:…} cannot be used in a command that needs a shell")
		return nil, nil
	}
	sc.checkShell(file)
	sc.warnForCmd(runtime.GOOS, file)
	return shellArgv(runtime.GOOS, text), nil
}

// shellArgv runs text under the system's shell.
func shellArgv(goos, text string) []string {
	if goos == "windows" {
		return []string{"cmd", "/d", "/c", text} // without what a user has set to run in every cmd
	}
	return []string{"/bin/sh", "-c", text}
}

// warnForCmd warns of what cmd does not know in a command that needs a shell.
func (sc Scope) warnForCmd(goos string, file *syntax.File) {
	if goos != "windows" {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			sc.Warn(sc.Line, "write %"+n.Param.Value+"%", "%s: cmd runs this command, and does not replace ${%s}", sc.Key, n.Param.Value)
		case *syntax.SglQuoted:
			sc.Warn(sc.Line, "write double quotes", "%s: cmd runs this command, and does not know single quotes", sc.Key)
		}
		return true
	})
}

// fileReference matches ${file:path}, which has another meaning in a shell.
var fileReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{file:([^}]*)\}`) })

// standIn begins the names of the variables that stand for files while a command is parsed.
const standIn = "toolman_file_"

// standIns replaces the file references of a command by variables that stand for them.
func standIns(text string) (standing string, files map[string]string) {
	if !strings.Contains(text, "${file:") {
		return text, nil
	}
	files = map[string]string{}
	standing = fileReference().ReplaceAllStringFunc(text, func(ref string) string {
		name := standIn + strconv.Itoa(len(files))
		files[name] = fileReference().FindStringSubmatch(ref)[1]
		return "${" + name + "}"
	})
	return standing, files
}

// checkShell checks a command that the shell will expand, and records the secrets in it. A ${NAME}
// has to be set; the command itself may set a plain $NAME.
func (sc Scope) checkShell(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Value != nil {
				sc.Named(n.Name.Value, n.Value.Lit())
			}
		case *syntax.ParamExp:
			_, ok := sc.lookup(n.Param.Value)
			switch {
			case !plainName(n) || n.Short:
			case ok:
				sc.checkInherited(n.Param.Value)
			case n.Exp == nil:
				sc.unset(n.Param.Value, ", or $"+n.Param.Value+" if the command sets it")
			}
			if n.Exp != nil && n.Exp.Word != nil {
				sc.Named(n.Param.Value, n.Exp.Word.Lit())
			}
		}
		return true
	})
}

// checkInherited adds a problem with a variable that toolman has and the shell does not inherit.
func (sc Scope) checkInherited(name string) {
	if _, given := sc.Env[name]; !given && !sc.Inherits(name) {
		sc.Fail("set it in env, as "+sc.Write(name, `"${`+name+`}"`), "the shell that runs it does not inherit the variable %s", name)
	}
}
