package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const (
	maxNotes       = 1000                   // notes that a client can make the server keep
	maxCompletions = 100                    // "Maximum 100 items per response" (completion)
	exportPause    = 200 * time.Millisecond // what the slow tool takes for a note
	noteScheme     = "note://"
)

// styles are the values of the prompt's argument.
var styles = []string{"brief", "bullets", "rhyme"}

// A note is something to do or to remember.
type note struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
	Done bool   `json:"done,omitempty"`
}

func (n *note) uri() string { return noteScheme + strconv.Itoa(n.ID) }

func (n *note) String() string {
	if n.Done {
		return fmt.Sprintf("%d: %s (done)", n.ID, n.Text)
	}
	return fmt.Sprintf("%d: %s", n.ID, n.Text)
}

// notes holds the notes and their subscriptions. Only the reading goroutine uses it; slow tools
// copy what they need.
type notes struct {
	*server
	all        []*note // by ID
	lastID     int
	subscribed map[string]bool // by URI
}

// newNotes makes a server the one for notes, and returns its tools.
func newNotes(s *server) map[string]run {
	n := &notes{server: s, lastID: 3, subscribed: map[string]bool{}, all: []*note{
		{1, "Renew the passport", true},
		{2, "Buy oat milk", false},
		{3, "Book a table for Friday", false},
	}}
	s.level, _ = mcpwire.LevelRank([]byte("warning"))
	s.methods = map[string]method{
		"resources/list":        n.listResources,
		"resources/read":        n.readResource,
		"resources/subscribe":   n.subscribe,
		"resources/unsubscribe": n.unsubscribe,
		"prompts/get":           n.getPrompt,
		"completion/complete":   n.complete,
		"logging/setLevel":      n.setLevel,
	}
	return map[string]run{
		"list": func(args) (outcome, error) { return listing(n.open()), nil },
		"find": func(a args) (outcome, error) {
			wanted := strings.ToLower(a.text("q"))
			return listing(n.filter(func(x *note) bool { return strings.Contains(strings.ToLower(x.Text), wanted) })), nil
		},
		"add": n.add,
		"done": n.byID(func(x *note) outcome {
			x.Done = true
			n.changed(x, "done")
			return text("note %d is done", x.ID)
		}),
		"delete": n.byID(func(x *note) outcome {
			n.all = slices.DeleteFunc(n.all, func(y *note) bool { return x == y })
			n.changed(x, "deleted")
			delete(n.subscribed, x.uri())
			return text("deleted note %d", x.ID)
		}),
		"export": n.export,
	}
}

// find returns the note with an ID as a client wrote it, or nil.
func (n *notes) find(id string) *note {
	if i := slices.IndexFunc(n.all, func(x *note) bool { return strconv.Itoa(x.ID) == id }); i >= 0 {
		return n.all[i]
	}
	return nil
}

func (n *notes) filter(keep func(*note) bool) []*note {
	return slices.DeleteFunc(slices.Clone(n.all), func(x *note) bool { return !keep(x) })
}

func (n *notes) open() []*note { return n.filter(func(x *note) bool { return !x.Done }) }

// byID makes a tool of an action on one note.
func (n *notes) byID(do func(*note) outcome) run {
	return func(a args) (outcome, error) {
		x := n.find(fmt.Sprint(a.number("id")))
		if x == nil {
			return outcome{}, fmt.Errorf("there is no note %v: list and find show the numbers", a.number("id"))
		}
		return do(x), nil
	}
}

func (n *notes) add(a args) (outcome, error) {
	written := strings.TrimSpace(a.text("text"))
	switch {
	case written == "":
		return outcome{}, errors.New("text is empty: write down something")
	case len(n.all) >= maxNotes:
		return outcome{}, fmt.Errorf("there are %d notes already: delete some", maxNotes)
	}
	n.lastID++
	x := &note{ID: n.lastID, Text: written}
	n.all = append(n.all, x)
	n.changed(x, "added")
	return text("added note %d", x.ID), nil
}

// changed tells the client that a note and the list have changed.
func (n *notes) changed(x *note, how string) {
	if info, _ := mcpwire.LevelRank([]byte("info")); info >= n.level {
		n.notify("notifications/message", `{"level":"info","logger":"notes","data":"note %d was %s"}`, x.ID, how)
	}
	if n.subscribed[x.uri()] {
		n.notify("notifications/resources/updated", `{"uri":%q}`, x.uri())
	}
	n.notify("notifications/resources/list_changed", "")
}

// listing returns notes for the model, a line each, and for programs.
func listing(found []*note) outcome {
	lines, copies := []string{}, []note{}
	for _, x := range found {
		lines, copies = append(lines, x.String()), append(copies, *x)
	}
	if len(found) == 0 {
		lines = []string{"there are none"}
	}
	return outcome{text: strings.Join(lines, "\n"), structured: map[string]any{"notes": copies}}
}

// export takes its time for every note.
func (n *notes) export(args) (outcome, error) {
	var lines []string
	for _, x := range n.all {
		lines = append(lines, x.String())
	}
	return outcome{later: func(ctx context.Context, report progress) outcome {
		for i := range lines {
			select {
			case <-time.After(exportPause):
				report(i+1, len(lines))
			case <-ctx.Done():
			}
		}
		return text("%s", strings.Join(lines, "\n"))
	}}, nil
}

// A resource is a note as it is listed, or as it is read.
type resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
	Text        string `json:"text,omitempty"`
}

func (n *notes) listResources(json.RawMessage) (any, error) {
	list := []resource{}
	for _, x := range n.open() {
		list = append(list, resource{URI: x.uri(), Name: fmt.Sprintf("note %d", x.ID), Description: x.Text, MimeType: "text/plain"})
	}
	return map[string]any{"resources": list}, nil
}

func (n *notes) readResource(params json.RawMessage) (any, error) {
	x, err := n.byURI(params)
	if err != nil {
		return nil, err
	}
	return map[string]any{"contents": []resource{{URI: x.uri(), Text: x.String()}}}, nil
}

func (n *notes) subscribe(params json.RawMessage) (any, error) {
	x, err := n.byURI(params)
	if err == nil {
		n.subscribed[x.uri()] = true
	}
	return struct{}{}, err
}

func (n *notes) unsubscribe(params json.RawMessage) (any, error) {
	uri, err := uriOf(params)
	delete(n.subscribed, uri)
	return struct{}{}, err
}

// byURI returns the note that params.uri names.
func (n *notes) byURI(params json.RawMessage) (*note, error) {
	uri, err := uriOf(params)
	if err != nil {
		return nil, err
	}
	id, ours := strings.CutPrefix(uri, noteScheme)
	if x := n.find(id); ours && x != nil {
		return x, nil
	}
	return nil, &jsonrpc.Error{Code: mcpwire.CodeResourceNotFound, Message: fmt.Sprintf("there is no resource %q: resources/list shows the open notes", uri)}
}

func uriOf(params json.RawMessage) (string, error) {
	var p struct{ URI string }
	if json.Unmarshal(params, &p) != nil || p.URI == "" {
		return "", errors.New("uri is missing")
	}
	return p.URI, nil
}

func (n *notes) getPrompt(params json.RawMessage) (any, error) {
	var p struct {
		Name      string
		Arguments struct{ Style string }
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errors.New("prompts/get needs a name, and strings as arguments")
	}
	switch {
	case p.Name != "summarize":
		return nil, fmt.Errorf("unknown prompt %q", p.Name)
	case !slices.Contains(styles, p.Arguments.Style):
		return nil, fmt.Errorf("style has to be one of %s", strings.Join(styles, ", "))
	}
	type message struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	}
	ask := fmt.Sprintf("Summarize my notes (style: %s):\n%s", p.Arguments.Style, listing(n.open()).text)
	return map[string]any{"messages": []message{{"user", content{"text", ask}}}}, nil
}

// complete completes styles for the prompt and numbers of notes for the template.
func (n *notes) complete(params json.RawMessage) (any, error) {
	var p struct {
		Ref      struct{ Type, Name, URI string }
		Argument struct{ Name, Value string }
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errors.New("completion/complete needs a ref and an argument")
	}
	var all []string
	switch {
	case p.Ref.Type == "ref/prompt" && p.Ref.Name == "summarize" && p.Argument.Name == "style":
		all = slices.Clone(styles)
	case p.Ref.Type == "ref/resource" && p.Ref.URI == noteScheme+"{id}" && p.Argument.Name == "id":
		for _, x := range n.all {
			all = append(all, strconv.Itoa(x.ID))
		}
	default:
		return nil, fmt.Errorf("nothing to complete: there are the prompt summarize (style) and the template %s{id} (id)", noteScheme)
	}
	all = slices.DeleteFunc(all, func(v string) bool { return !strings.HasPrefix(v, p.Argument.Value) })
	return map[string]any{"completion": map[string]any{
		"values": append([]string{}, all[:min(len(all), maxCompletions)]...), "total": len(all), "hasMore": len(all) > maxCompletions,
	}}, nil
}

func (n *notes) setLevel(params json.RawMessage) (any, error) {
	var p struct{ Level string }
	_ = json.Unmarshal(params, &p) // without a level there is none of that name
	rank, ok := mcpwire.LevelRank([]byte(p.Level))
	if !ok {
		return nil, fmt.Errorf("unknown log level %q", p.Level)
	}
	n.level = rank
	return struct{}{}, nil
}
