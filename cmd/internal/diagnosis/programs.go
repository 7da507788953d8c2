package diagnosis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"toolman/router/suggest"
)

// installs says how programs that start servers are installed.
var installs = []struct{ programs, hint string }{
	{"npx node npm", "install Node.js 22 or later, which brings npx: brew install node, winget install OpenJS.NodeJS, or the packages nodejs and npm of the system"},
	{"uvx uv", "install uv: pipx install uv, brew install uv, or winget install astral-sh.uv"},
	{"python python3 pip pipx py", "install Python 3: brew install python, winget install Python.Python.3.13, or the package python3 of the system"},
	{"docker", "install Docker, or write podman instead"},
	{"podman", "install Podman, or write docker instead"},
	{"bun bunx", "install Bun: npm install -g bun"},
	{"pnpm pnpx", "install pnpm: npm install -g pnpm, or write npx instead"},
	{"deno", "install Deno: npm install -g deno"},
	{"go", "install Go"},
	{"java", "install a Java runtime"},
	{"dotnet dnx", "install .NET"},
}

// install says how to get a program that is not there.
func (s *Server) install(name string) string {
	base := strings.TrimSuffix(filepath.Base(name), ".exe")
	for _, i := range installs {
		for known := range strings.FieldsSeq(i.programs) {
			if known != base {
				continue
			}
			if base == "python" {
				if _, err := exec.LookPath("python3"); err == nil {
					return "write python3 instead of python at " + s.at()
				}
			}
			return i.hint
		}
	}
	if strings.ContainsAny(name, `/\`) {
		return "correct the path at " + s.at() + ", or install the program"
	}
	if near := suggest.Nearest(name, inPath()); near != "" && near != name && near[0] == name[0] && len(near)-len(name) < 3 && len(name)-len(near) < 3 {
		return fmt.Sprintf("did you mean %s? Correct it at %s, or install %s", near, s.at(), name)
	}
	return "install it, or write its full path at " + s.at()
}

const maxPrograms = 20_000

// inPath returns the names of the programs in PATH.
func inPath() (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		all, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range all {
			if len(names) == maxPrograms {
				return names
			}
			name := f.Name()
			if runtime.GOOS == "windows" {
				name = strings.TrimSuffix(name, filepath.Ext(name))
			}
			names = append(names, name)
		}
	}
	return names
}

// ofSpawn explains a server whose process could not be started.
func (s *Server) ofSpawn() (Finding, bool) {
	problem := s.Status.Problem
	_, after, ran := strings.Cut(problem, `: running "`)
	if !ran || len(s.Argv) == 0 {
		if ran {
			return s.problem("program-not-found", problem, "correct command at "+s.at()), true
		}
		return Finding{}, false
	}
	name := s.Argv[0]
	_, why, _ := strings.Cut(after, `": `)
	why, _, _ = strings.Cut(why, "; ")
	switch {
	case strings.Contains(problem, "working directory"):
		return s.problem("directory-missing", why, "create the folder, or correct cwd at "+s.at()), true
	case strings.Contains(problem, "not found in its PATH"), strings.Contains(problem, "no such file; "):
		return s.problem("program-not-found", "the program "+name+" is not there", s.install(name)), true
	case strings.Contains(problem, "is not executable"):
		return s.problem("program-not-executable", why, "chmod +x "+name), true
	case strings.Contains(problem, "interpreter that its first line names"):
		return s.problem("interpreter-missing", "the program that the first line of "+name+" names is not there", "install it, or correct the first line of "+name), true
	}
	return s.problem("program-cannot-run", "it cannot be started: "+why, "correct command at "+s.at()), true
}

var (
	shellMissing = lazy(`(?m)^(?:\S*/)?(?:sh|bash|dash|zsh|ash)(?::(?: line)? ?\d+)?: ([^\s:]+): (?:command )?not found`)
	zshMissing   = lazy(`command not found: (\S+)`)
	cmdMissing   = lazy(`'([^']+)' is not recognized as an internal or external command`)
	envMissing   = lazy(`env: [‘'"]?([^\s‘’'":]+)[’'"]?: No such file`)
	spawnMissing = lazy(`spawn (\S+) ENOENT`)
)

// ofShell explains a program that a shell, env or another program did not find.
func (s *Server) ofShell() (Finding, bool) {
	for _, p := range []func() *regexp.Regexp{shellMissing, zshMissing, cmdMissing, envMissing, spawnMissing} {
		if m := p().FindStringSubmatch(s.Status.Stderr); m != nil {
			name := m[1]
			if name == "node" || name == "nodejs" {
				return s.problem("node-missing", "Node.js is not there", s.install("node")), true
			}
			if strings.HasPrefix(name, "python") {
				return s.problem("python-missing", name+" is not there", s.install(name)), true
			}
			return s.problem("program-not-found", "the program "+name+" is not there", s.install(name)), true
		}
	}
	return Finding{}, false
}

// withoutVersion returns the name of a package.
func withoutVersion(pkg string) string {
	if at := strings.LastIndex(pkg, "@"); at > 0 {
		return pkg[:at]
	}
	return pkg
}

// packageOf returns the package that the command of the server names to npx or uvx, or "".
func (s *Server) packageOf() string {
	for i, word := range s.Argv {
		switch strings.TrimSuffix(strings.TrimSuffix(filepath.Base(word), ".exe"), ".cmd") {
		case "npx", "uvx", "bunx", "pnpx":
			for _, next := range s.Argv[i+1:] {
				if !strings.HasPrefix(next, "-") {
					return next
				}
			}
		}
		if i > 2 {
			break
		}
	}
	return ""
}
