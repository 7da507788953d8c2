package setup

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
)

// Flags choose a configuration and what it is resolved for.
type Flags struct {
	Config  string // --config
	Agent   string // --agent
	Service string // --service
	Task    string // --task
	HTTP    bool   // the configuration's [http] table is used
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
	return find(f.Config, os.Getenv, dir)
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
	c, err := config.Load(at.Path, f.Options())
	if err == nil {
		c.Why = at.Why
	}
	return c, err
}

// Options returns the options with which to read the configuration.
func (f *Flags) Options() config.Options {
	return config.Options{Agent: f.Agent, Service: f.Service, Task: f.Task, HTTP: f.HTTP}
}

// fileName is the name of the file that find looks for.
const fileName = "tools.toml"

// A Location is where the configuration was found.
type Location struct {
	Path string // absolute if the folder given to find was
	Why  string // such as "named by --config"

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

// find returns the file to load: the one named explicitly (--config, "" if not given), the one
// named by TOOLMAN_CONFIG, tools.toml in dir (the working directory) or in a folder above it up to
// its repository's root (the folder with .git), or the one in $CLAUDE_PROJECT_DIR. Outside a
// repository it does not look above dir, since any user may write to /tmp. It does not check that a
// named file exists. If it finds none, or one that fails [Location.Check], it returns a
// [*source.Error].
func find(explicit string, getenv func(string) string, dir string) (Location, error) {
	if explicit != "" {
		return Location{Path: against(dir, explicit), Why: "named by --config"}, nil
	}
	if named := getenv("TOOLMAN_CONFIG"); named != "" {
		return Location{Path: against(dir, named), Why: "named by TOOLMAN_CONFIG"}, nil
	}
	candidates := []Location{{Path: filepath.Join(dir, fileName), Why: "in the working directory"}}
	for _, folder := range foldersAbove(dir) {
		candidates = append(candidates, Location{Path: filepath.Join(folder, fileName), Why: "above the working directory, in the same repository"})
	}
	if project := getenv("CLAUDE_PROJECT_DIR"); project != "" {
		candidates = append(candidates, Location{Path: filepath.Join(against(dir, project), fileName), Why: "in CLAUDE_PROJECT_DIR"})
	}
	for _, c := range candidates {
		if info, err := os.Stat(c.Path); err == nil && !info.IsDir() {
			c.found = true
			return c, c.Check()
		}
	}
	return Location{}, notFound(candidates)
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
		Hint: "name one with --config or TOOLMAN_CONFIG, or create one, for example:\n\n" + source.Smallest,
	}}}
}

// watchEvery is how often a Watch reads its files.
const watchEvery = time.Second

// A Watch reports changes of the content of files.
//
// It reads the files each second and does not use events of the system: they miss a file that is
// replaced behind links, as Kubernetes does, and one on a network.
type Watch map[string][sha256.Size]byte

// NewWatch returns a Watch on the files, which need not exist. Call it before you read them: it
// reports changes since then.
func NewWatch(paths ...string) Watch {
	w := Watch{}
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		w[path] = sha256.Sum256(text)
	}
	return w
}

// Run calls changed each time the content of a file differs from before, until ctx ends. A file
// that cannot be read, as between two versions of it, has not changed.
func (w Watch) Run(ctx context.Context, changed func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for path, last := range w {
			text, err := os.ReadFile(path)
			if now := sha256.Sum256(text); err == nil && now != last {
				w[path] = now
				changed()
			}
		}
	}
}
