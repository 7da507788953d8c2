package initcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/clients/edit"
	"toolman/mcpwire/sanitize"
)

// sourceOf returns the files that an argument of import means: those of a client, or one file.
func sourceOf(p clients.Place, arg string) ([]clients.File, error) {
	if info, err := os.Stat(arg); err == nil && !info.IsDir() {
		f, err := guess(p, arg)
		return []clients.File{f}, err
	}
	c, err := clients.ByName(arg)
	if err != nil {
		if strings.ContainsAny(arg, `/\`) || filepath.Ext(arg) != "" {
			return nil, cli.Failed(fmt.Errorf("there is no file %s", sanitize.Line(arg)), "name a file of a client, or a client")
		}
		return nil, err
	}
	var files []clients.File
	for _, f := range c.Files(p) {
		if f.Exists() {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, cli.Failed(fmt.Errorf("%s has no configuration on this machine", c.Title), "name its file")
	}
	return files, nil
}

// layouts are how clients write their servers, by the client whose syntax is meant in a file of an
// unknown one.
var layouts = []struct {
	client string
	format edit.Format
	keys   []string
	list   bool
}{
	{"claude-code", edit.JSON, []string{"mcpServers"}, false},
	{"vscode", edit.JSON, []string{"servers"}, false},
	{"vscode", edit.JSON, []string{"mcp", "servers"}, false},
	{"zed", edit.JSON, []string{"context_servers"}, false},
	{"opencode", edit.JSON, []string{"mcp"}, false},
	{"codex", edit.TOML, []string{"mcp_servers"}, false},
	{"goose", edit.YAML, []string{"extensions"}, false},
	{"continue", edit.YAML, []string{"mcpServers"}, true},
}

// guess returns a file of a client: by its path or, elsewhere, by what is in it.
func guess(p clients.Place, arg string) (clients.File, error) {
	path, err := filepath.Abs(arg)
	if err != nil {
		return clients.File{}, err
	}
	for _, c := range clients.All() {
		for _, f := range c.Files(p) {
			if f.Path == path && f.Scope != clients.Local {
				return f, nil
			}
		}
	}
	format := edit.JSON
	switch strings.ToLower(filepath.Ext(path)) {
	case ".toml":
		format = edit.TOML
	case ".yaml", ".yml":
		format = edit.YAML
	}
	for _, l := range layouts {
		if l.format != format {
			continue
		}
		c, err := clients.ByName(l.client)
		if err != nil {
			return clients.File{}, err
		}
		f := clients.File{Client: c, Scope: clients.User, Path: path, Format: format, Keys: l.keys, List: l.list}
		text, err := f.Text()
		if err != nil {
			return f, err
		}
		_, found, problem := edit.At(format, text, l.keys...)
		if problem != nil {
			_, err = f.Parse(text) // which names the file
			return f, err
		}
		if found {
			return f, nil
		}
	}
	return clients.File{}, cli.Failed(errors.New(sanitize.Line(path)+" has no servers that toolman knows how to read"), "they are under mcpServers, servers, context_servers or mcp in JSON, mcp_servers in TOML, extensions in YAML")
}
