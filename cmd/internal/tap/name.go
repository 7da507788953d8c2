package tap

import (
	"path/filepath"
	"slices"
	"strings"
)

// runners returns the programs that start the one that their arguments name. Of some, a subcommand
// comes first. (A variable would be made at each start of toolman.)
func runners() map[string][]string {
	return map[string][]string{
		"npx": nil, "bunx": nil, "uvx": nil, "pipx": {"run"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "npm": {"exec", "x"},
		"uv": {"run", "tool"}, "bun": {"run", "x"}, "deno": {"run"}, "go": {"run"}, "dotnet": {"run", "exec"}, "cargo": {"run"},
		"node": nil, "nodejs": nil, "tsx": nil, "python": nil, "python3": nil, "ruby": nil, "php": nil, "java": nil, "perl": nil,
		"sh": nil, "bash": nil, "cmd": nil, "env": nil, "nice": nil, "docker": {"run"}, "podman": {"run"},
	}
}

// withValue are flags of runners that are followed by a value.
var withValue = []string{"-e", "-v", "-p", "-u", "-w", "--env", "--env-file", "--volume", "--mount", "--publish", "--user", "--workdir",
	"--name", "--network", "--with", "--from", "--python", "--directory", "--project", "--require", "-r", "--import", "-C", "--package"}

// plainNames say nothing about a server. The folder they are in does.
var plainNames = []string{"index", "main", "__main__", "server", "cli", "app", "run", "start", "stdio", "dist", "build", "src", "bin", "out", "lib", "cmd"}

// serverName returns the name of the server that a command starts: the last part of the name of its
// package, file or image.
func serverName(argv []string) string {
	for len(argv) > 1 {
		subcommands, isRunner := runners()[bare(argv[0])]
		rest := argv[1:]
		if !isRunner {
			break
		}
		rest = operands(rest)
		if len(rest) > 0 && slices.Contains(subcommands, rest[0]) {
			rest = operands(rest[1:])
		}
		if len(rest) > 0 && rest[0] == "run" { // uv tool run
			rest = operands(rest[1:])
		}
		if len(rest) == 0 {
			break
		}
		if argv = rest; strings.Contains(argv[0], " ") { // a script for a shell
			argv = strings.Fields(strings.TrimPrefix(argv[0], "exec "))
		}
	}
	if len(argv) == 0 {
		return "server"
	}
	return lastName(argv[0])
}

// operands returns the arguments from the first that is no flag, no value of a flag and no
// assignment.
func operands(args []string) []string {
	for len(args) > 0 {
		switch {
		case slices.Contains(withValue, args[0]) && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(args[0], "-"), strings.HasPrefix(args[0], "/") && len(args[0]) == 2, strings.Contains(args[0], "="):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// lastName returns the last part of a path or of the name of a package or image, without a version
// or the ending of a program.
func lastName(path string) string {
	path = strings.TrimRight(filepath.ToSlash(path), "/")
	for {
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		name = bare(name)
		if i := strings.LastIndexAny(name, "@:"); i > 0 { // a version, or the tag of an image
			name = name[:i]
		}
		if name == "." || name == ".." || name == "" {
			abs, err := filepath.Abs(path)
			if err != nil || path == "/" {
				return "server"
			}
			return filepath.Base(abs)
		}
		if !slices.Contains(plainNames, name) {
			return name
		}
		if dir == "" {
			abs, err := filepath.Abs(path)
			if err != nil || filepath.Dir(abs) == abs {
				return name
			}
			dir = filepath.ToSlash(filepath.Dir(abs))
		}
		path = dir
	}
}

// bare returns the name of a program without its folder and ending.
func bare(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	switch ext := filepath.Ext(name); ext {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".php", ".jar", ".sh", ".exe", ".cmd", ".bat", ".go", ".pl", ".dll":
		return strings.TrimSuffix(name, ext)
	}
	return name
}
