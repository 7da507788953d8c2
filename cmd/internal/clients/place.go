package clients

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"toolman/cmd/internal/cli"
)

// A Place is where clients look for their files.
type Place struct {
	OS   string // as runtime.GOOS
	Home string // the home directory
	// Project is the root of the repository or, without one, the working directory; "" in a home
	// directory, which is no project.
	Project string
	Dir     string // the working directory, below Project
	Getenv  func(string) string
}

// Here returns the place of this process.
func Here() (Place, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Place{}, cli.Failed(err, "set HOME")
	}
	dir, err := os.Getwd()
	if err != nil {
		return Place{}, err
	}
	return At(home, dir), nil
}

// At returns the place of a process in a working directory.
func At(home, dir string) Place {
	return Place{OS: runtime.GOOS, Home: home, Project: projectOf(home, dir), Dir: dir, Getenv: os.Getenv}
}

// projectOf returns the project of a working directory, or "". A repository in a home directory
// itself, where some keep their settings, is no project.
func projectOf(home, dir string) string {
	for folder := dir; !same(folder, home); {
		if exists(filepath.Join(folder, ".git")) {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			break
		}
		folder = parent
	}
	if same(dir, home) || dir == filepath.Dir(dir) {
		return ""
	}
	return dir
}

// same reports whether two paths are of one folder. On Windows, the working directory has the case
// in which it was typed.
func same(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (p Place) env(name string) string {
	if p.Getenv == nil {
		return ""
	}
	return p.Getenv(name)
}

// xdg returns the directory for settings of programs that follow XDG on all systems.
func (p Place) xdg() string {
	return cmp.Or(p.env("XDG_CONFIG_HOME"), filepath.Join(p.Home, ".config"))
}

// app returns the directory for settings of programs that follow the system.
func (p Place) app() string {
	switch p.OS {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		return cmp.Or(p.env("APPDATA"), filepath.Join(p.Home, "AppData", "Roaming"))
	}
	return p.xdg()
}

// local returns Windows' directory for what stays on the machine.
func (p Place) local() string {
	return cmp.Or(p.env("LOCALAPPDATA"), filepath.Join(p.Home, "AppData", "Local"))
}

// expand returns the path that a pattern of the table stands for here, or "". A pattern begins with
// ~ (home), {xdg}, {app}, {local}, {project} or {VARIABLE:~/default}.
func (p Place) expand(pattern string) string {
	start, rest := pattern, ""
	if strings.HasPrefix(pattern, "{") {
		end := strings.Index(pattern, "}")
		start, rest = pattern[1:end], pattern[end+1:]
	} else if strings.HasPrefix(pattern, "~") {
		start, rest = "~", pattern[1:]
	}
	var base string
	switch name, otherwise, hasDefault := strings.Cut(start, ":"); {
	case start == "~":
		base = p.Home
	case start == "xdg":
		base = p.xdg()
	case start == "app":
		base = p.app()
	case start == "local":
		base = p.local()
	case start == "project":
		base = p.Project
	case hasDefault:
		if base = p.env(name); base == "" {
			base = p.expand(otherwise)
		}
	default:
		return pattern
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(rest))
}

// program reports whether PATH has a program.
func (p Place) program(name string) bool {
	names := []string{name}
	if p.OS == "windows" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	for _, dir := range filepath.SplitList(p.env("PATH")) {
		for _, n := range names {
			info, err := os.Stat(filepath.Join(dir, n))
			if err == nil && !info.IsDir() && (p.OS == "windows" || info.Mode()&0o111 != 0) {
				return true
			}
		}
	}
	return false
}
