package configfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
)

// Name is the name of the file that Find looks for.
const Name = "tools.toml"

// A Location is where the configuration was found.
type Location struct {
	Path string // absolute if the folder given to Find was
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

// Find returns the file to load: the one named explicitly (--config, "" if not given), the one
// named by TOOLMAN_CONFIG, tools.toml in dir (the working directory) or in a folder above it up to
// its repository's root (the folder with .git), or the one in $CLAUDE_PROJECT_DIR. Outside a
// repository it does not look above dir, since any user may write to /tmp. It does not check that a
// named file exists. If it finds none, or one that fails [Location.Check], it returns a
// [*source.Error].
func Find(explicit string, getenv func(string) string, dir string) (Location, error) {
	if explicit != "" {
		return Location{Path: against(dir, explicit), Why: "named by --config"}, nil
	}
	if named := getenv("TOOLMAN_CONFIG"); named != "" {
		return Location{Path: against(dir, named), Why: "named by TOOLMAN_CONFIG"}, nil
	}
	candidates := []Location{{Path: filepath.Join(dir, Name), Why: "in the working directory"}}
	for _, folder := range foldersAbove(dir) {
		candidates = append(candidates, Location{Path: filepath.Join(folder, Name), Why: "above the working directory, in the same repository"})
	}
	if project := getenv("CLAUDE_PROJECT_DIR"); project != "" {
		candidates = append(candidates, Location{Path: filepath.Join(against(dir, project), Name), Why: "in CLAUDE_PROJECT_DIR"})
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
		Msg:  "no " + Name + " found, looked for:\n    " + strings.Join(places, "\n    "),
		Hint: "name one with --config or TOOLMAN_CONFIG, or create one, for example:\n\n" + source.Smallest,
	}}}
}
