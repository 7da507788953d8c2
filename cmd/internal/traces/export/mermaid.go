package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire/sanitize"
)

// mostLabel is the most characters of a label.
const mostLabel = 80

// A diagram is a sequence diagram of Mermaid that is being written.
type diagram struct {
	out   strings.Builder
	lanes map[string]string // names of lanes in the diagram, by peer
	left  int               // messages that are still shown
	more  int               // and those that are not
}

// Mermaid returns the messages as sequence diagrams, one for each run. Several are in the fences of
// Markdown, since a diagram of Mermaid has a file of its own.
func Mermaid(t *Trace, o Options) ([]byte, error) {
	var all []string
	left := cmp.Or(o.Limit, defaultLimit)
	for _, run := range t.Runs {
		if len(run.Records) == 0 && len(t.Runs) > 1 {
			continue
		}
		d := &diagram{lanes: map[string]string{}, left: left}
		d.run(run)
		left = d.left
		all = append(all, d.out.String())
	}
	if len(all) == 1 {
		return []byte(all[0]), nil
	}
	var out strings.Builder
	for _, one := range all {
		out.WriteString("```mermaid\n" + one + "```\n\n")
	}
	return []byte(out.String()), nil
}

func (d *diagram) run(run *Run) {
	d.out.WriteString("sequenceDiagram\n")
	shown := run.Records[:min(len(run.Records), d.left)]
	d.more, d.left = len(run.Records)-len(shown), d.left-len(shown)
	clients, servers := peersOf(shown)
	for _, key := range slices.Concat(clients, []string{""}, servers) {
		_, name, _ := strings.Cut(key, "\x00")
		if key == "" {
			name = run.self()
		}
		d.lanes[key] = fmt.Sprintf("p%d", len(d.lanes))
		fmt.Fprintf(&d.out, "    participant %s as %s\n", d.lanes[key], label(cmp.Or(name, "?")))
	}
	for _, r := range shown {
		d.record(r)
	}
	if d.more > 0 {
		fmt.Fprintf(&d.out, "    Note over %s: %d more are not shown\n", d.lanes[""], d.more)
	}
}

// lane is the key of a record's peer.
func lane(r *trace.Record) string {
	if r.Type == trace.TypeFrame {
		return string(r.Leg) + "\x00" + r.Peer
	}
	return string(trace.Upstream) + "\x00" + r.Peer
}

// peersOf returns the keys of the peers of frames, in the order in which they appear.
func peersOf(records []*trace.Record) (clients, servers []string) {
	for _, r := range records {
		key := lane(r)
		switch {
		case r.Type != trace.TypeFrame:
		case r.Leg == trace.Client && !slices.Contains(clients, key):
			clients = append(clients, key)
		case r.Leg == trace.Upstream && !slices.Contains(servers, key):
			servers = append(servers, key)
		}
	}
	return clients, servers
}

func (d *diagram) record(r *trace.Record) {
	at := cmp.Or(d.lanes[lane(r)], d.lanes[""])
	if r.Type != trace.TypeFrame {
		fmt.Fprintf(&d.out, "    Note over %s: %s\n", at, label(strings.TrimSuffix(cmp.Or(r.Event, r.Type)+": "+r.Text, ": ")))
		return
	}
	from, to := at, d.lanes[""]
	if r.Dir == trace.Out {
		from, to = to, from
	}
	arrow, text := "->>", strings.TrimSpace(r.Method+" "+r.Name)
	switch r.Kind {
	case trace.Response:
		arrow, text = "-->>", outcome(r)
	case trace.Notification:
		arrow = "-)"
	case trace.Invalid:
		arrow, text = "-x", "no message: "+r.Rule
	}
	if r.Kind == trace.Response && r.Failed() {
		arrow = "--x"
	}
	fmt.Fprintf(&d.out, "    %s%s%s: %s\n", from, arrow, to, label(text))
}

// outcome describes a response.
func outcome(r *trace.Record) string {
	text := cmp.Or(r.Status, "response")
	if r.Code != 0 {
		text += fmt.Sprint(" ", r.Code)
	}
	if r.Verdict != "" && r.Verdict != trace.StatusLocal {
		text = r.Verdict
		if r.Rule != "" {
			text += ": " + r.Rule
		}
	}
	if us := cmp.Or(r.TotalUS, r.LegUS); us > 0 {
		text += fmt.Sprintf(" (%.3g ms)", ms(us))
	}
	return text
}

// label returns a text for a label: on one line, without what Mermaid or HTML gives a meaning.
func label(text string) string {
	var out strings.Builder
	for i, c := range []rune(sanitize.Line(text)) {
		if i == mostLabel {
			out.WriteString("…")
			break
		}
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" _./()-…", c) {
			out.WriteRune(c)
			continue
		}
		fmt.Fprintf(&out, "#%d;", c)
	}
	if strings.EqualFold(out.String(), "end") {
		return out.String() + " "
	}
	return cmp.Or(out.String(), "-")
}
