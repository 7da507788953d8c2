package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Name is the file that is looked for.
const Name = "tools.toml"

// smallest is the smallest useful tools.toml.
const smallest = `    active_toolsets = ["fs_read*"]

    [[servers]]
    namespace = "fs"
    command = "npx -y @modelcontextprotocol/server-filesystem ."
`

// A Location is where the configuration was found.
type Location struct {
	Path string // absolute if the folder given to Find was
	Why  string // for people: "named by --config"

	found bool // and not named
}

// Check returns an [*Error] for a file that was found, and not named, when another user owns it or may write it now.
func (l Location) Check() error {
	if l.found {
		if problem := distrust(l.Path); problem != nil {
			return &Error{Problems: []Problem{*problem}}
		}
	}
	return nil
}

// Find says which file to load: the one named explicitly (--config, "" if not given), the one named by TOOLMAN_CONFIG,
// tools.toml in dir (the working directory) or in a folder above it up to its repository's root (the folder with .git), or the
// one in $CLAUDE_PROJECT_DIR. Outside a repository nothing above dir is looked at, since anybody may write to /tmp.
// A file that is named is not looked for: whether it can be read is Load's to say. Nothing found gives an [*Error], and so does a
// file that does not pass [Location.Check].
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

// against is path, taken against dir if it is relative.
func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// foldersAbove are the folders from dir's parent up to the root of the repository that dir is in, or none.
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

// notFound lists every place looked at.
func notFound(candidates []Location) *Error {
	var places []string
	for _, c := range candidates {
		if !slices.Contains(places, c.Path) {
			places = append(places, c.Path)
		}
	}
	return &Error{Problems: []Problem{{
		Msg:  "no " + Name + " found, looked for:\n    " + strings.Join(places, "\n    "),
		Hint: "name one with --config or TOOLMAN_CONFIG, or create one, for example:\n\n" + smallest,
	}}}
}
