package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
)

// A File is a file in which a client has servers, or a part of one.
type File struct {
	Client *Client
	Scope  Scope
	Path   string // absolute
	Format edit.Format
	Keys   []string // the path of keys to the servers
	List   bool     // the servers are a list, with their names in them
	Create string   // what a new file begins with
	// ReadOnly is set for files that the client reads, and that belong to others.
	ReadOnly bool
}

// Exists reports whether there is a file at the path.
func (f File) Exists() bool { return exists(f.Path) }

// Spot returns where the servers are in the file.
func (f File) Spot() edit.Spot {
	return edit.Spot{Format: f.Format, Path: f.Keys, List: f.List, Create: f.Create}
}

// Same reports whether two are the same part of the same file, whichever client it is for.
func (f File) Same(other File) bool {
	return f.Path == other.Path && slices.Equal(f.Keys, other.Keys)
}

// Files returns the files that the client reads at a place, the user's before those of the project.
// Most of them need not exist.
func (c *Client) Files(p Place) []File {
	var files []File
	for _, pl := range c.places {
		if pl.os != "" && pl.os != p.OS {
			continue
		}
		path := p.expand(pl.pattern)
		if path == "" || pl.scope == Local && p.Project == "" {
			continue
		}
		paths := []string{path}
		if strings.Contains(filepath.Base(path), "*") {
			paths = matching(path)
		}
		for _, path := range paths {
			f := File{Client: c, Scope: pl.scope, Path: path, Format: pl.format, Keys: pl.keys, List: pl.list, Create: pl.create, ReadOnly: pl.readOnly}
			if pl.later != nil && f.hasServersAt(pl.later) {
				f.Keys = pl.later
			}
			if pl.scope != Local {
				files = appendNew(files, f)
				continue
			}
			for _, dir := range []string{p.Project, p.Dir} {
				if dir != "" {
					f.Keys = inProject(pl.keys, filepath.ToSlash(dir))
					files = appendNew(files, f)
				}
			}
		}
	}
	return files
}

// hasServersAt reports whether the file has an object of objects at a path of keys. A server that is
// called as the last key has other things in it than objects.
func (f File) hasServersAt(keys []string) bool {
	text, err := f.Text()
	if err != nil || text == nil {
		return false // whoever reads the servers says so
	}
	n, found, problem := edit.At(f.Format, text, keys...)
	members, isObject := n.Value.([]source.Member)
	return problem == nil && found && isObject && !slices.ContainsFunc(members, func(m source.Member) bool {
		_, isObject := m.Value.([]source.Member)
		return !isObject
	})
}

// matching returns the files in a directory whose names match the last part of a path. The path of
// the directory stands for itself, whatever it has of [ and *.
func matching(path string) (paths []string) {
	dir, pattern := filepath.Split(path)
	all, _ := os.ReadDir(dir) // most do not exist
	for _, f := range all {
		if ok, _ := filepath.Match(pattern, f.Name()); ok {
			paths = append(paths, dir+f.Name())
		}
	}
	return paths
}

func appendNew(files []File, f File) []File {
	if slices.ContainsFunc(files, f.Same) {
		return files
	}
	return append(files, f)
}

// inProject returns keys with a project's path in place of *.
func inProject(keys []string, project string) []string {
	keys = slices.Clone(keys)
	if i := slices.Index(keys, "*"); i >= 0 {
		keys[i] = project
	}
	return keys
}

// Target returns the file that toolman's entry goes into: the first that exists, or the first.
func (c *Client) Target(p Place, scope Scope) (File, error) {
	var candidates []File
	for _, f := range c.Files(p) {
		if f.Scope == scope && !f.ReadOnly {
			candidates = append(candidates, f)
		}
	}
	switch i := slices.IndexFunc(candidates, File.Exists); {
	case i >= 0:
		return candidates[i], nil
	case len(candidates) > 0:
		return candidates[0], nil
	case scope == Project && p.Project == "" && c.has(Project):
		return File{}, cli.Failed(errors.New("this is no project: it is the home directory"), "change to the project's directory")
	case !c.Writable():
		return File{}, cli.Failed(fmt.Errorf("%s has no file that toolman could edit", c.Title), "toolman snippet "+c.ID+" prints what to paste")
	}
	return File{}, cli.Failed(fmt.Errorf("%s has no %s file", c.Title, scope), "toolman snippet "+c.ID+" says what it has")
}

func (c *Client) has(scope Scope) bool {
	return slices.ContainsFunc(c.places, func(pl place) bool { return pl.scope == scope })
}

// Text returns the text of the file, or nil if there is none. Its length is bounded.
func (f File) Text() ([]byte, error) {
	return filechange.Read(f.Path, f.Format.MaxBytes())
}

// problem names the file in a problem.
func (f File) problem(p *source.Problem) error {
	p.File = f.Path
	return p
}
