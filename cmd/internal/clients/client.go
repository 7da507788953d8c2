package clients

import (
	"fmt"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients/edit"
	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"
)

// A Client is an MCP client.
type Client struct {
	ID    string // as commands name it: "claude-code"
	Title string // "Claude Code"
	// CLI is the client's own command that adds a server, with NAME, COMMAND and ARGS in it; "" if
	// it has none.
	CLI string
	// Note is what users should know of how the client reads its files, and ProjectNote of how it
	// reads those of a project.
	Note        string
	ProjectNote string

	aliases  []string
	places   []place
	traces   []string // patterns of paths that exist where the client is installed
	programs []string
	shape    shape
}

// A place is a pattern for the path of a file.
type place struct {
	scope   Scope
	pattern string // as Place.expand reads it; its last part can have a *
	format  edit.Format
	keys    []string // the path of keys to the servers
	os      string   // only on this system
	later   []string // the same in files of a later version of the client, which have these keys
	list    bool     // the servers are a list, with their names in them
	create  string   // what a new file begins with

	readOnly bool // toolman's entry goes into another file
}

// A Scope is for whom a file holds.
type Scope string

// The scopes. Local is for one user in one project, which only Claude Code has.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
)

// ByName returns the client with an ID, an alias or a title, in any case.
func ByName(name string) (*Client, error) {
	var ids []string
	for _, c := range All() {
		if strings.EqualFold(c.ID, name) || strings.EqualFold(c.Title, name) || slices.Contains(c.aliases, strings.ToLower(name)) {
			return c, nil
		}
		ids = append(ids, c.ID)
	}
	hint := "the clients are " + strings.Join(ids, ", ")
	if near := suggest.Nearest(strings.ToLower(name), ids); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return nil, cli.Usage(fmt.Errorf("unknown client %s", sanitize.Quoted(name, 60)), hint)
}

// Writable reports whether the client has a file that can be edited.
func (c *Client) Writable() bool { return len(c.places) > 0 }

// Notes returns what users should know of how the client reads the files of a scope.
func (c *Client) Notes(s Scope) []string {
	var notes []string
	if c.Note != "" {
		notes = append(notes, c.Note)
	}
	if s == Project && c.ProjectNote != "" {
		notes = append(notes, c.ProjectNote)
	}
	return notes
}

// Detected reports whether there are traces of the client on this machine: its program, its
// settings or its directory.
func (c *Client) Detected(p Place) bool {
	for _, pattern := range c.traces {
		if path := p.expand(pattern); path != "" && exists(path) {
			return true
		}
	}
	for _, f := range c.Files(p) {
		if f.Scope == User && f.Exists() {
			return true
		}
	}
	return slices.ContainsFunc(c.programs, p.program)
}
