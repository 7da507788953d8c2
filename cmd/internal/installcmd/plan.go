package installcmd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"toolman/cmd/internal/changes"
	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/filechange"
)

// A Plan is what will be changed in which files.
type Plan struct {
	store   *changes.Store
	records []*changes.Record
	all     []*changes.Change
	secrets []string // that Diff hides
}

// NewPlan returns a plan without changes.
func NewPlan() (*Plan, error) {
	store, err := changes.Open()
	if err != nil {
		return nil, err
	}
	records, err := store.Records()
	return &Plan{store: store, records: records}, err
}

// change returns the change of a file, which may be one without a difference.
func (p *Plan) change(path, what string) (*changes.Change, error) {
	for _, c := range p.all {
		if c.Path == path {
			return c, nil
		}
	}
	text, err := filechange.Read(path, changes.MaxBytes)
	if err != nil {
		return nil, cli.Failed(err, "nothing was changed")
	}
	c := &changes.Change{Change: filechange.Change{Path: path, Before: text, After: text}, What: what}
	p.all = append(p.all, c)
	return c, nil
}

// Write plans a file of toolman's own: its whole text. mode is that of a new file.
func (p *Plan) Write(what, path string, text []byte, mode fs.FileMode) error {
	c, err := p.change(path, what)
	if err == nil {
		c.After, c.Mode = text, mode
	}
	return err
}

// Register plans toolman's entry in a client's file and returns its name. An entry that is there
// already is changed to t, and keeps its other keys. In a project's file, the name is
// toolman-project if the user's file of the client has toolman with another tools.toml: the
// project's entry would hide that one.
func (p *Plan) Register(f clients.File, t clients.Toolman, place clients.Place) (string, error) {
	c, err := p.changeOf(f)
	if err != nil {
		return "", err
	}
	if t.Name == "" {
		t.Name = "toolman"
		if f.Scope == clients.Project && p.userHasOther(f.Client, t, place) {
			t.Name = "toolman-project"
		}
	}
	entries, err := f.Parse(c.After)
	if err != nil {
		return "", cli.Failed(err, "nothing was changed; correct the file, and run the command again")
	}
	p.hide(entries)
	for _, pair := range t.Env {
		p.Hide(pair.Value)
	}
	for _, e := range entries {
		if e.Name == t.Name && !e.IsToolman && e.Command != t.Command {
			return "", cli.Failed(fmt.Errorf("%s:%d: the entry %s starts something else", f.Path, e.Line, t.Name), "nothing was changed; --name gives toolman's entry another name")
		}
	}
	spot := f.Spot()
	after, mark, problem := spot.Set(c.After, t.Name, f.Entry(t))
	if problem != nil {
		problem.File = f.Path
		return "", cli.Failed(problem, "nothing was changed")
	}
	if !bytes.Equal(after, c.After) {
		c.Edits = append(c.Edits, changes.Edit{Spot: spot, Name: t.Name, Set: true, Mark: mark})
	}
	c.After = after
	if !slices.Contains(c.Owners, f.Client.ID) {
		c.Owners = append(c.Owners, f.Client.ID)
	}
	return t.Name, nil
}

// TakeOut plans that entries of a client's file are taken out.
func (p *Plan) TakeOut(f clients.File, names ...string) error {
	c, err := p.changeOf(f)
	if err != nil {
		return err
	}
	entries, err := f.Parse(c.After)
	if err != nil {
		return cli.Failed(err, "nothing was changed; correct the file, and run the command again")
	}
	p.hide(entries)
	spot := f.Spot()
	for _, name := range names {
		after, found, problem := spot.Remove(c.After, name, p.mark(f, name))
		if problem != nil {
			problem.File = f.Path
			return cli.Failed(problem, "nothing was changed")
		}
		if found {
			c.After = after
			c.Edits = append(c.Edits, changes.Edit{Spot: spot, Name: name})
		}
	}
	if !slices.Contains(c.Owners, f.Client.ID) {
		c.Owners = append(c.Owners, f.Client.ID)
	}
	return nil
}

// mark returns what is known of how an entry was added, if toolman has added it.
func (p *Plan) mark(f clients.File, name string) (none edit.Mark) {
	for _, r := range p.records {
		if r.Path != f.Path {
			continue
		}
		for _, e := range r.Edits {
			if e.Set && e.Name == name && slices.Equal(e.Spot.Path, f.Keys) {
				return e.Mark
			}
		}
	}
	return none
}

func (p *Plan) changeOf(f clients.File) (*changes.Change, error) {
	c, err := p.change(f.Path, f.Client.Title)
	if err == nil && f.Scope == clients.Project {
		c.Mode = 0o644 // it is for all who work on the project
	}
	return c, err
}

// userHasOther reports whether the user's file of a client has toolman with other arguments.
func (p *Plan) userHasOther(c *clients.Client, t clients.Toolman, place clients.Place) bool {
	for _, f := range c.Files(place) {
		if f.Scope != clients.User {
			continue
		}
		entries, err := f.Read()
		if err != nil {
			continue // what is wrong with that file is of no concern for this one
		}
		for _, e := range entries {
			if (e.IsToolman || e.Command == t.Command) && e.Name == "toolman" && e.Config() != clients.ConfigIn(t.Args) {
				return true
			}
		}
	}
	return false
}

// Changes returns what Apply will change.
func (p *Plan) Changes() []changes.Change {
	var all []changes.Change
	for _, c := range p.all {
		if !c.IsNone() || p.newOwner(c) {
			all = append(all, *c)
		}
	}
	return all
}

// newOwner reports whether a file that toolman has changed is needed by one more client now.
func (p *Plan) newOwner(c *changes.Change) bool {
	for _, r := range p.records {
		if r.Path == c.Path {
			return slices.ContainsFunc(c.Owners, func(o string) bool { return !slices.Contains(r.Owners, o) })
		}
	}
	return false
}

// Diff returns what Apply will change, except in some files, as a unified diff without secrets.
func (p *Plan) Diff(except ...string) string {
	var b strings.Builder
	for _, c := range p.Changes() {
		if !slices.Contains(except, c.Path) {
			b.WriteString(p.mask(c.Diff()))
		}
	}
	return b.String()
}

// Apply makes all changes, or none.
func (p *Plan) Apply(ctx context.Context) error { return p.store.Apply(ctx, p.Changes()) }
