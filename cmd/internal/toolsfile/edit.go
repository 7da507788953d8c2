package toolsfile

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients/render"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
)

// A File is the text of a tools.toml.
type File struct {
	Path string // absolute
	Text []byte
}

// source returns the text as a configuration that is read from no file.
func (f File) source(text []byte) source.Source {
	if len(text) == 0 {
		text = []byte("\n") // not nil
	}
	return source.Source{Path: f.Path, Text: text, Format: "toml", Dir: filepath.Dir(f.Path)}
}

// load reads the text without replacing references.
func (f File) load(text []byte) (*config.Config, error) {
	return config.LoadFrom(f.source(text), config.Options{KeepReferences: true})
}

// check reads the file before an edit.
func (f File) check() (*config.Config, error) {
	if format := source.FormatOf(f.Path, f.Text); format != "toml" {
		return nil, cli.Usage(fmt.Errorf("%s is JSON, and toolman edits TOML alone", f.Path), "edit it by hand")
	}
	return f.load(f.Text)
}

// find returns the server of a name: its namespace, or what policies call it.
func find(servers []config.Server, name string) []config.Server {
	var found []config.Server
	for _, s := range servers {
		if s.Namespace == name || s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// Append returns the text with servers added at the end.
func (f File) Append(servers ...Server) ([]byte, error) {
	c, err := f.check()
	if err != nil || len(servers) == 0 {
		return f.Text, err
	}
	var b strings.Builder
	for i, s := range servers {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.block(f.isByName(c)))
	}
	added, _, err := f.contents([]byte(b.String()))
	if err != nil {
		return nil, err
	}
	text := join(f.Text, b.String())
	return text, f.compare(text, func(before []any) []any { return append(before, added...) })
}

// isByName reports whether the file has its servers in tables by name.
func (f File) isByName(c *config.Config) bool {
	return slices.ContainsFunc(scan(string(f.Text)), func(s statement) bool {
		return s.kind == '[' && !s.array && len(s.path) > 1 && s.path[0] == "servers" && namesServer(c, s.path[1])
	})
}

// namesServer reports whether a server of the file has its key as its name.
func namesServer(c *config.Config, key string) bool {
	return slices.ContainsFunc(c.Servers, func(s config.Server) bool { return s.Name == key })
}

// join adds blocks to the end of a text, with the line ends that it has.
func join(text []byte, blocks string) []byte {
	eol := render.LineEnd(text)
	blocks = strings.ReplaceAll(blocks, "\n", eol)
	content := bytes.TrimPrefix(text, mark)
	out := bytes.Clone(text)
	switch {
	case len(bytes.TrimSpace(content)) == 0:
	case !bytes.HasSuffix(text, []byte("\n")):
		out = append(out, eol+eol...)
	case !bytes.HasSuffix(text, []byte("\n\n")) && !bytes.HasSuffix(text, []byte("\n\r\n")):
		out = append(out, eol...)
	}
	return append(out, blocks...)
}

// Remove returns the text without the server of a name.
func (f File) Remove(name string) ([]byte, error) {
	c, err := f.check()
	if err != nil {
		return nil, err
	}
	text, _, index, err := f.cut(c, name)
	if err != nil {
		return nil, err
	}
	return text, f.compare(text, func(before []any) []any { return slices.Delete(before, index, index+1) })
}

// cut returns the text without a server, where that was in it, and which of all servers it is.
func (f File) cut(c *config.Config, name string) (text []byte, at, index int, err error) {
	found := find(c.Servers, name)
	switch len(found) {
	case 0:
		return nil, 0, 0, unknown(f.Path, c.Servers, name)
	case 1:
	default:
		return nil, 0, 0, cli.Failed(fmt.Errorf("%s has %d servers called %s, on lines %d and %d", f.Path, len(found), sanitize.Line(name), found[0].Line, found[1].Line), "edit it by hand")
	}
	old := string(bytes.TrimPrefix(f.Text, mark))
	begin := len(f.Text) - len(old)
	spans := blockAt(old, found[0].Line)
	if len(spans) == 0 {
		return nil, 0, 0, cli.Failed(fmt.Errorf("%s:%d: the server %s has no table of its own", f.Path, found[0].Line, sanitize.Line(name)), "edit it by hand")
	}
	left := old
	for _, s := range slices.Backward(spans) {
		left = left[:s.start] + left[s.end:]
	}
	if spans[len(spans)-1].end == len(old) { // of the blank lines around the block, those before it are left
		left = trimBlankEnd(left)
	}
	index = slices.IndexFunc(c.Servers, func(s config.Server) bool { return s.Line == found[0].Line })
	return slices.Concat(f.Text[:begin], []byte(left)), begin + min(spans[0].start, len(left)), index, nil
}

// mark is a byte order mark.
var mark = []byte("\xef\xbb\xbf")

// trimBlankEnd removes blank lines at the end of a text.
func trimBlankEnd(text string) string {
	for {
		cut, ok := strings.CutSuffix(text, "\r\n")
		if !ok {
			cut, ok = strings.CutSuffix(text, "\n")
		}
		if !ok || cut != "" && !strings.HasSuffix(cut, "\n") {
			return text
		}
		text = cut
	}
}

// unknown is the error for a server that the file does not have.
func unknown(path string, servers []config.Server, name string) error {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	hint := "it has " + sanitize.Line(strings.Join(names, ", "))
	if len(names) == 0 {
		hint = "it has no servers"
	}
	return cli.Failed(fmt.Errorf("%s has no server called %s", path, sanitize.Line(name)), cli.DidYouMean(name, names, "", hint))
}

// Replace returns the text with a server in place of that with its namespace.
func (f File) Replace(s Server) ([]byte, error) {
	c, err := f.check()
	if err != nil {
		return nil, err
	}
	without, at, index, err := f.cut(c, s.Namespace)
	if err != nil {
		return nil, err
	}
	block := s.block(f.isByName(c))
	replaced, _, err := f.contents([]byte(block))
	if err != nil {
		return nil, err
	}
	text := join(without[:at], block)
	if tail := without[at:]; len(bytes.TrimSpace(tail)) > 0 {
		text = slices.Concat(text, []byte(render.LineEnd(without)), tail)
	}
	return text, f.compare(text, func(before []any) []any { return slices.Replace(before, index, index+1, replaced...) })
}

// compare checks that text says what the file says, but for what change does to its servers.
func (f File) compare(text []byte, change func(servers []any) []any) error {
	if _, err := f.load(text); err != nil {
		return err
	}
	before, rest, err1 := f.contents(f.Text)
	after, left, err2 := f.contents(text)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !reflect.DeepEqual(change(before), after) || !reflect.DeepEqual(rest, left) {
		return cli.Failed(fmt.Errorf("%s cannot be edited without changing more than the server", f.Path), "edit it by hand")
	}
	return nil
}

// contents returns what a text says: its servers, in the order of Config.Servers, and the rest.
func (f File) contents(text []byte) (servers []any, rest map[string]any, err error) {
	root, err := config.Tree(f.source(text))
	if err != nil {
		return nil, nil, err
	}
	rest, _ = withoutLines(root).(map[string]any)
	all, _ := rest["servers"].([]any)
	delete(rest, "servers")
	return append([]any{}, all...), rest, nil // not nil, so that no servers are equal to none
}

func withoutLines(n source.Node) any {
	switch v := n.Value.(type) {
	case []source.Member:
		all := map[string]any{}
		for _, m := range v {
			all[m.Key] = withoutLines(m.Node)
		}
		return all
	case []source.Node:
		all := []any{}
		for _, one := range v {
			all = append(all, withoutLines(one))
		}
		return all
	}
	return n.Value
}
