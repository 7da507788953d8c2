package installcmd

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
)

// A Program is how this toolman can be started again, also after it is upgraded.
type Program struct {
	Command string // "toolman" if PATH finds this program by that name, otherwise its path, or npx
	Path    string // for clients that do not have the user's PATH; "" if there is none that stays
	Args    []string
}

// graphical are clients that are started without a shell, and so without the PATH that the user
// sets there.
var graphical = []string{"claude-desktop", "cursor", "vscode", "windsurf", "zed", "antigravity", "cline", "kiro", "lmstudio", "junie", "continue", "kilo", "jetbrains"}

// ThisProgram returns how this process can be started again.
func ThisProgram() (Program, error) {
	path, err := os.Executable()
	if err != nil {
		return Program{}, err
	}
	return programAt(path, exec.LookPath, os.Getenv), nil
}

// programAt returns how the program at a path can be started again. A program in a cache of npx or
// uvx is started with these: the cache's directory has another name after an upgrade.
func programAt(path string, look func(string) (string, error), getenv func(string) string) Program {
	slashed := filepath.ToSlash(path)
	switch {
	case strings.Contains(slashed, "/_npx/"):
		if runtime.GOOS == "windows" { // npx is a script there, which clients cannot start
			return Program{Command: "cmd", Args: []string{"/c", "npx", "-y", "toolman"}}
		}
		return Program{Command: "npx", Args: []string{"-y", "toolman"}}
	case strings.Contains(slashed, "/uv/archive-v"), strings.Contains(slashed, "/uv/environments-v"), strings.Contains(slashed, "/uv/cache/"):
		return Program{Command: "uvx", Args: []string{"toolman"}}
	}
	found, err := look("toolman")
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil || !isProgram(found, path) {
		return Program{Command: path, Path: path}
	}
	// A virtual environment is in PATH only while it is active.
	if env := getenv("VIRTUAL_ENV"); env != "" && strings.HasPrefix(found, env+string(filepath.Separator)) {
		return Program{Command: found, Path: found}
	}
	return Program{Command: "toolman", Path: found}
}

// isProgram reports whether what PATH has is the program at path: the same file, or the script of
// the npm package that the program is in.
func isProgram(found, path string) bool {
	a, errA := os.Stat(found)
	b, errB := os.Stat(path)
	if errA != nil || errB != nil {
		return false
	}
	if os.SameFile(a, b) {
		return true
	}
	real, err := filepath.EvalSymlinks(found)
	if err != nil {
		return false
	}
	return modulesOf(real) != "" && modulesOf(real) == modulesOf(path) ||
		// On Windows npm makes a script beside its node_modules instead of a link.
		modulesOf(path) == filepath.Join(filepath.Dir(real), "node_modules")
}

// modulesOf returns the outermost node_modules that a path is in, or "".
func modulesOf(path string) string {
	const dir = "node_modules"
	parts := strings.Split(filepath.ToSlash(path), "/")
	i := slices.Index(parts, dir)
	if i < 0 {
		return ""
	}
	return filepath.FromSlash(strings.Join(parts[:i+1], "/"))
}

// For returns how a client starts toolman with arguments.
func (p Program) For(c *clients.Client, args ...string) clients.Toolman {
	command := p.Command
	if slices.Contains(graphical, c.ID) {
		command = cmp.Or(p.Path, p.Command)
	}
	return clients.Toolman{Command: command, Args: slices.Concat(p.Args, args)}
}
