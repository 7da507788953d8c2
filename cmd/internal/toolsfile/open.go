package toolsfile

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"

	"mvdan.cc/sh/v3/syntax"
)

// Open reads a file. Its Text is nil if there is none.
func Open(path string) (File, error) {
	text, err := filechange.Read(path, source.MaxBytes)
	return File{Path: path, Text: text}, err
}

// Changes returns what to write so that the file has a new text. A file whose first line names the
// schema gets that beside it. The Text of a file that does not exist is nil.
func (f File) Changes(text, schema []byte) ([]filechange.Change, error) {
	changes := []filechange.Change{{Path: f.Path, Before: f.Text, After: text, Mode: 0o644}}
	if !bytes.HasPrefix(bytes.TrimPrefix(text, mark), []byte("#:schema "+schemaName)) {
		return changes, nil
	}
	path := SchemaPath(f.Path)
	old, err := filechange.Read(path, source.MaxBytes)
	return append(changes, filechange.Change{Path: path, Before: old, After: schema, Mode: 0o644}), err
}

// Same reports whether two servers say the same, apart from comments.
func (s Server) Same(other Server) bool { return s.plainBlock() == other.plainBlock() }

func (s Server) plainBlock() string {
	s.Comment, s.Env, s.Headers = nil, sortedPairs(s.Env), sortedPairs(s.Headers)
	return s.Block()
}

func sortedPairs(pairs []Pair) []Pair {
	pairs = slices.Clone(pairs)
	slices.SortFunc(pairs, func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
	return pairs
}

// Needs returns the variables that have to be set for the server, sorted.
func (s Server) Needs() []string {
	needs := map[string]bool{}
	texts := append([]string{s.Command, s.URL, s.Cwd}, s.Args...)
	for _, p := range slices.Concat(s.Env, s.Headers) {
		texts = append(texts, p.Value)
	}
	for _, text := range texts {
		before, rest, found := strings.Cut(text, "${")
		for found {
			ref, after, closed := strings.Cut(rest, "}")
			if name := strings.TrimPrefix(ref, "env:"); closed && !strings.HasSuffix(before, "$") && syntax.ValidName(name) {
				needs[name] = true
			}
			before, rest, found = strings.Cut(after, "${")
		}
	}
	return slices.Sorted(maps.Keys(needs))
}

// Check reads the server as toolman does, for a file at path. All variables count as set.
func (s Server) Check(path string) error {
	src := source.Source{Path: path, Text: []byte(s.Block()), Format: "toml", Dir: filepath.Dir(path)}
	set := func(string) (string, bool) { return "http://toolman.invalid", true }
	_, err := config.LoadFrom(src, config.Options{LookupEnv: set})
	if e, ok := errors.AsType[*source.Error](err); ok {
		for i := range e.Problems { // its lines are not those of the file
			e.Problems[i].File, e.Problems[i].Line = "", 0
		}
	}
	return err
}

// Diff returns changes as unified diffs. The schema, which is long and of toolman's own making, is
// only named.
func Diff(changes []filechange.Change) string {
	var b strings.Builder
	for _, c := range changes {
		switch {
		case c.IsNone():
		case strings.HasSuffix(filepath.ToSlash(c.Path), schemaName):
			b.WriteString("The schema for editors: " + c.Path + "\n")
		default:
			b.WriteString(c.Diff())
		}
	}
	return b.String()
}
