package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
)

// Flags choose a configuration and what it is resolved for.
type Flags struct {
	Config  string // --config
	Agent   string // --agent
	Service string // --service
	Task    string // --task
	HTTP    bool   // the configuration's [http] table is used, and [cluster]
	Cluster bool   // [cluster] is used

	Stdin *os.File // for --config -
	Taken bool     // Stdin is the connection to a client
}

// AddTask gives a command the flags --agent, --service and --task.
func (f *Flags) AddTask(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Agent, "agent", "", "`name` of the agent in agent_policies (default: none)")
	cmd.Flags().StringVar(&f.Service, "service", "", "`name` of what the agent works on, for task_rules")
	cmd.Flags().StringVar(&f.Task, "task", "", "`text` that describes the task, for task_rules")
}

// Find finds the configuration.
func (f *Flags) Find() (Location, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Location{}, err
	}
	at, err := find(f.Config, os.Getenv, dir)
	if err == nil {
		err = f.readOnce(&at, dir)
	}
	return at, err
}

// Load finds and reads the configuration.
func (f *Flags) Load() (*config.Config, error) {
	at, err := f.Find()
	if err != nil {
		return nil, err
	}
	return f.LoadAt(at)
}

// LoadAt reads the configuration that Find has found.
func (f *Flags) LoadAt(at Location) (*config.Config, error) {
	c, err := config.LoadFrom(at.Source, f.Options())
	if err == nil {
		c.Why = at.Why
	}
	return c, err
}

// Options returns the options with which to read the configuration.
func (f *Flags) Options() config.Options {
	return config.Options{Agent: f.Agent, Service: f.Service, Task: f.Task, HTTP: f.HTTP, Cluster: f.Cluster}
}

// fileName is the name of the file that find looks for.
const fileName = "tools.toml"

// A Location is where the configuration was found.
type Location struct {
	source.Source        // with an absolute path if the folder given to find was
	Why           string // such as "named by --config"

	found bool // and not named
}

// Check returns a [*source.Error] if the file was found, and not named, and another user owns it or
// may write it.
func (l Location) Check() error {
	if l.found {
		if problem := distrust(l.Path); problem != nil {
			return &source.Error{Problems: []source.Problem{*problem}}
		}
	}
	return nil
}

// find returns what to load: the file named explicitly (--config, "" if not given), the text of
// TOOLMAN_CONFIG_JSON, the file named by TOOLMAN_CONFIG, tools.toml in dir (the working directory)
// or in a folder above it up to its repository's root (the folder with .git), the one in
// $CLAUDE_PROJECT_DIR, or the user's own (see [UserFile]). Outside a repository it does not look above dir, since any user may write to
// /tmp. It does not check that a named file exists. If it finds none, or one that fails
// [Location.Check], it returns a [*source.Error].
func find(explicit string, getenv func(string) string, dir string) (Location, error) {
	if explicit != "" {
		return Location{Source: named(dir, explicit), Why: "named by --config"}, nil
	}
	if text := getenv(inEnvironment); text != "" {
		return Location{Source: source.Source{Path: inEnvironment, Text: []byte(text), Format: "json", Dir: dir}, Why: "in the environment"}, isObject(text)
	}
	if name := getenv("TOOLMAN_CONFIG"); name != "" {
		return Location{Source: named(dir, name), Why: "named by TOOLMAN_CONFIG"}, nil
	}
	file := func(dir string) source.Source { return source.Source{Path: filepath.Join(dir, fileName)} }
	candidates := []Location{{Source: file(dir), Why: "in the working directory"}}
	for _, folder := range foldersAbove(dir) {
		candidates = append(candidates, Location{Source: file(folder), Why: "above the working directory, in the same repository"})
	}
	if project := getenv("CLAUDE_PROJECT_DIR"); project != "" {
		candidates = append(candidates, Location{Source: file(against(dir, project)), Why: "in CLAUDE_PROJECT_DIR"})
	}
	if user := UserFile(getenv); user != "" {
		candidates = append(candidates, Location{Source: source.Source{Path: user}, Why: "the user's, for all projects"})
	}
	for _, c := range candidates {
		if info, err := os.Stat(c.Path); err == nil && !info.IsDir() {
			c.found = true
			return c, c.Check()
		}
	}
	return Location{}, notFound(candidates)
}

// UserFile returns the path of the user's own tools.toml, which is for all projects: in
// $XDG_CONFIG_HOME/toolman, in ~/.config/toolman or, on Windows, in %APPDATA%\toolman. It returns ""
// without a home directory.
func UserFile(getenv func(string) string) string {
	if dir := ConfigFolder(getenv); dir != "" {
		return filepath.Join(dir, fileName)
	}
	return ""
}

// ConfigFolder returns the folder of the user's own tools.toml, or "".
func ConfigFolder(getenv func(string) string) string {
	xdg, home := getenv("XDG_CONFIG_HOME"), getenv("HOME")
	switch {
	case filepath.IsAbs(xdg): // as the XDG specification says, others are ignored
		return filepath.Join(xdg, "toolman")
	case runtime.GOOS == "windows" && getenv("APPDATA") != "":
		return filepath.Join(getenv("APPDATA"), "toolman")
	case filepath.IsAbs(home):
		return filepath.Join(home, ".config", "toolman")
	}
	return ""
}

// FindToEdit returns the path of the file that a command edits: the one in use or, if there is none,
// tools.toml in the working directory.
func (f *Flags) FindToEdit() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	at, err := find(f.Config, os.Getenv, dir)
	switch {
	case at.Path == "" && err != nil:
		return filepath.Join(dir, fileName), nil
	case err != nil:
		return "", err
	case at.Path == inEnvironment || at.Path == fromStdin:
		return "", cli.Usage(errors.New("the configuration is in no file that could be edited"), "name a file with --config")
	}
	return at.Path, nil
}

// against returns path, relative to dir if it is relative.
func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// foldersAbove returns the folders from dir's parent up to the root of its repository, or none.
func foldersAbove(dir string) []string {
	var above []string
	for folder := dir; ; {
		if _, err := os.Stat(filepath.Join(folder, ".git")); err == nil {
			return above
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return nil
		}
		above = append(above, parent)
		folder = parent
	}
}

// notFound returns an error with every place that was tried.
func notFound(candidates []Location) *source.Error {
	var places []string
	for _, c := range candidates {
		if !slices.Contains(places, c.Path) {
			places = append(places, c.Path)
		}
	}
	return &source.Error{Problems: []source.Problem{{
		Msg:  "no " + fileName + " found, looked for:\n    " + strings.Join(places, "\n    "),
		Hint: "name one with --config or TOOLMAN_CONFIG, write it as JSON into TOOLMAN_CONFIG_JSON, let toolman init make one, or write it, for example:\n\n" + source.Smallest,
	}}}
}
