package demoserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// exportPause is how long the slow tool takes for a note.
const exportPause = 200 * time.Millisecond

func (n *notes) tools() []tool {
	id := []param{{"id", "number", "the number of the note"}}
	return []tool{
		{
			name: "list", title: "List notes", description: "List all open notes", readOnly: true,
			run: func(args) (outcome, error) { return listing(n.open()), nil },
		},
		{
			name: "find", title: "Find notes", description: "Find the notes that hold a text, done ones included", readOnly: true,
			params: []param{{"q", "string", "the text, in any case"}},
			run:    func(a args) (outcome, error) { return n.findText(a.text("q")), nil },
		},
		{
			name: "add", title: "Add a note", description: "Write down a new note",
			params: []param{{"text", "string", "what to write down"}},
			run: func(a args) (outcome, error) {
				x, err := n.add(a.text("text"))
				if err != nil {
					return outcome{}, err
				}
				return text("added note %d", x.ID), nil
			},
		},
		{
			name: "done", title: "Check off a note", description: "Mark a note as done; it leaves the list, not the notebook", params: id,
			run: n.byID(func(x *note) outcome {
				x.Done = true
				n.changed(x, "done")
				return text("note %d is done", x.ID)
			}),
		},
		{
			name: "delete", title: "Delete a note", description: "Delete a note for good", params: id,
			run: n.byID(func(x *note) outcome {
				n.delete(x)
				return text("deleted note %d", x.ID)
			}),
		},
		{
			name: "export", title: "Export notes", description: "Write out all notes; slow, and reports its progress", readOnly: true,
			run: n.export,
		},
	}
}

// byID makes a tool of what is done to one note.
func (n *notes) byID(do func(*note) outcome) func(args) (outcome, error) {
	return func(a args) (outcome, error) {
		x := n.find(fmt.Sprint(a.number("id")))
		if x == nil {
			return outcome{}, fmt.Errorf("there is no note %v: list and find show the numbers", a.number("id"))
		}
		return do(x), nil
	}
}

func (n *notes) findText(wanted string) outcome {
	wanted = strings.ToLower(wanted)
	return listing(n.like(func(x *note) bool { return strings.Contains(strings.ToLower(x.Text), wanted) }))
}

// listing is notes for the model, a line each, and for programs.
func listing(found []*note) outcome {
	lines, copies := make([]string, len(found)), make([]note, len(found))
	for i, x := range found {
		lines[i], copies[i] = x.String(), *x
	}
	if len(found) == 0 {
		lines = []string{"there are none"}
	}
	return outcome{text: strings.Join(lines, "\n"), structured: map[string]any{"notes": copies}}
}

// export takes its time for every note.
func (n *notes) export(args) (outcome, error) {
	all := n.like(func(*note) bool { return true })
	lines := make([]string, len(all))
	for i, x := range all {
		lines[i] = x.String()
	}
	return outcome{later: func(ctx context.Context, report progress) outcome {
		for i := range lines {
			select {
			case <-time.After(exportPause):
				report(i+1, len(lines), "exported "+strconv.Itoa(i+1)+" of "+strconv.Itoa(len(lines)))
			case <-ctx.Done():
			}
		}
		return text("%s", strings.Join(lines, "\n"))
	}}, nil
}
