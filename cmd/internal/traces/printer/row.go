package printer

import (
	"cmp"
	"fmt"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
)

const noteIndent = "                  "

// A row is a line of the table of calls.
type row struct {
	number, time, peers, what, status, total, own, size string
	color                                               string // of the status
	quiet                                               bool   // no call
	note                                                string // on a line below
}

// widths are the widths of a row's cells; negative ones align on the left.
var widths = [...]int{5, 9, -24, -38, -16, 7, 7, -1}

func (r *row) cells() [len(widths)]string {
	return [...]string{r.number, r.time, r.peers, r.what, r.status, r.total, r.own, r.size}
}

func callRow(c *calls.Call) row {
	r := row{
		number: strings.TrimPrefix(c.First.Call, "c"), time: since(c.US), peers: peers(c), what: title(c.First),
		status: statusText(c.Status, c.Code), color: callColor(c), note: problemLine(c), size: traffic(c.In, c.Out),
	}
	if c.Status != trace.StatusPending {
		r.total = duration(c.TotalUS)
	}
	if c.Answered && !c.ByToolman() && !c.Tapped() {
		r.own = duration(c.OwnUS)
	}
	return r
}

func statusText(status string, code int) string {
	if code == 0 {
		return status
	}
	return fmt.Sprint(status, " ", code)
}

// peers returns the caller and the peer that was called.
func peers(c *calls.Call) string {
	from, to := c.Peers()
	return clean(from + " -> " + to)
}

// title returns a method and the name of its item.
func title(r *trace.Record) string {
	return clean(strings.TrimSpace(r.Method + " " + r.Name))
}

// problemLine returns why a call failed, or what toolman decided about it.
func problemLine(c *calls.Call) string {
	decision := c.Verdict
	if decision == "active" || decision == trace.StatusLocal {
		decision = ""
	}
	if decision != "" && c.Rule != "" {
		decision += " (" + c.Rule + ")"
	}
	return clean(join(": ", decision, shorten(c.Error, 300)))
}

func callColor(c *calls.Call) string {
	switch {
	case c.Failed():
		return cli.Red
	case c.Status == trace.StatusOK, c.Status == trace.StatusLocal, c.Status == trace.StatusCached:
		return cli.Green
	}
	return cli.Yellow
}

// recordRow returns the row of an event, or of a frame that belongs to no call. self is what the
// client talks to.
func recordRow(r *trace.Record, self string) row {
	if r.Type != trace.TypeFrame {
		return row{time: since(r.US), peers: clean(cmp.Or(r.Peer, self)), what: eventText(r), quiet: true}
	}
	out := row{time: since(r.US), what: title(r), quiet: true}
	switch {
	case r.Dir == trace.In:
		out.peers, out.size = clean(r.Peer+" -> "+self), traffic(r.Bytes, 0)
	default:
		out.peers, out.size = clean(self+" -> "+r.Peer), traffic(0, r.Bytes)
	}
	switch r.Kind {
	case trace.Response:
		out.what = cmp.Or(out.what, "an answer to no call")
		out.status, out.color, out.note = statusText(r.Status, r.Code), cli.Yellow, clean(shorten(r.Problem(), 300))
	case trace.Invalid:
		out.status, out.color, out.quiet = string(r.Kind), cli.Red, false
		out.what = cmp.Or(out.what, "no message")
		out.note = clean(join(": ", r.Rule, shorten(string(r.Payload()), 120)))
	}
	return out
}

// eventText describes an event.
func eventText(r *trace.Record) string {
	switch r.Event {
	case trace.EventDrop:
		if r.Count == 0 { // of a tap
			break
		}
		return fmt.Sprintf("%d lines of this trace were dropped here", r.Count)
	case trace.EventJunk:
		return clean("junk on stdout: " + r.Text)
	}
	return clean(join(": ", cmp.Or(r.Event, r.Type), r.Text))
}

// traffic returns the bytes into and out of toolman.
func traffic(in, out int) string {
	var into, from string
	if in > 0 {
		into = ">" + size(in)
	}
	if out > 0 {
		from = "<" + size(out)
	}
	return join(" ", into, from)
}

// header prints the names of the columns, once.
func (p *Printer) header() {
	if p.headed {
		return
	}
	p.headed = true
	p.row(row{number: "#", time: "start", peers: "peers", what: "call", status: "status", total: "total", own: "own", size: "bytes", quiet: true})
}

func (p *Printer) row(r row) {
	const status = 4
	var b strings.Builder
	for i, text := range r.cells() {
		text = pad(text, widths[i])
		switch {
		case strings.TrimSpace(text) == "":
		case i == status && r.color != "":
			text = p.paint(r.color, text)
		case r.quiet:
			text = p.paint(cli.Faint, text)
		}
		b.WriteString(text + "  ")
	}
	p.line(strings.TrimRight(b.String(), " "))
	if r.note != "" {
		p.line(noteIndent + p.paint(cmp.Or(r.color, cli.Yellow), "! "+r.note))
	}
}
