package demoserver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxNotes bounds what a client can make the server keep.
const maxNotes = 1000

// A note is something to do or to remember.
type note struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
	Done bool   `json:"done,omitempty"`
}

func (n *note) uri() string { return fmt.Sprintf("note://%d", n.ID) }

func (n *note) String() string {
	if n.Done {
		return fmt.Sprintf("%d: %s (done)", n.ID, n.Text)
	}
	return fmt.Sprintf("%d: %s", n.ID, n.Text)
}

// notes are the notes and who watches them. All of it belongs to the reading goroutine; slow tools copy what they need.
type notes struct {
	*server
	all    []*note // by id
	lastID int
	subs   map[string]bool // URIs subscribed to
}

func newNotes(w *writer) *server {
	n := &notes{lastID: 3, subs: map[string]bool{}, all: []*note{
		{1, "Renew the passport", true},
		{2, "Buy oat milk", false},
		{3, "Book a table for Friday", false},
	}}
	n.server = newServer(w,
		about{"notes", "Notes", "1.0.0"},
		map[string]any{
			"tools":       struct{}{},
			"resources":   map[string]bool{"subscribe": true, "listChanged": true},
			"prompts":     struct{}{},
			"completions": struct{}{},
			"logging":     struct{}{},
		},
		n.tools())
	n.instructions = "Short notes. Those that are open are resources, too; note://{id} reads any of them."
	n.level = severity("warning")
	for name, do := range map[string]method{
		"resources/list":           n.listResources,
		"resources/templates/list": n.listTemplates,
		"resources/read":           n.readResource,
		"resources/subscribe":      n.subscribe,
		"resources/unsubscribe":    n.unsubscribe,
		"prompts/list":             n.listPrompts,
		"prompts/get":              n.getPrompt,
		"completion/complete":      n.complete,
		"logging/setLevel":         n.setLevel,
	} {
		n.methods[name] = do
	}
	return n.server
}

// find is the note with an id as a client wrote it.
func (n *notes) find(id string) *note {
	i := slices.IndexFunc(n.all, func(x *note) bool { return strconv.Itoa(x.ID) == id })
	if i < 0 {
		return nil
	}
	return n.all[i]
}

// like is the notes that ok likes.
func (n *notes) like(ok func(*note) bool) []*note {
	found := []*note{}
	for _, x := range n.all {
		if ok(x) {
			found = append(found, x)
		}
	}
	return found
}

func (n *notes) open() []*note { return n.like(func(x *note) bool { return !x.Done }) }

func (n *notes) add(text string) (*note, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, errors.New("text is empty: write down something")
	case len(n.all) >= maxNotes:
		return nil, fmt.Errorf("there are %d notes already: delete some", maxNotes)
	}
	n.lastID++
	x := &note{ID: n.lastID, Text: text}
	n.all = append(n.all, x)
	n.changed(x, "added")
	return x, nil
}

func (n *notes) delete(x *note) {
	n.all = slices.DeleteFunc(n.all, func(y *note) bool { return x == y })
	n.changed(x, "deleted")
	delete(n.subs, x.uri())
}

// changed tells the client that a note is not what it was, nor the list.
func (n *notes) changed(x *note, how string) {
	n.log("info", fmt.Sprintf("note %d was %s", x.ID, how))
	if n.subs[x.uri()] {
		n.notify("notifications/resources/updated", map[string]string{"uri": x.uri()})
	}
	n.notify("notifications/resources/list_changed", nil)
}
