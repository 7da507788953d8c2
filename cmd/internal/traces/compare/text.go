package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/sanitize"
)

// A printer prints a Result for people.
type printer struct {
	out       bytes.Buffer
	color     bool
	threshold time.Duration
}

func (p *printer) result(r *Result) []byte {
	p.side("A", &r.A)
	p.side("B", &r.B)
	for _, pair := range r.Pairs {
		p.pair(pair)
	}
	for _, n := range r.Notifications {
		fmt.Fprintf(&p.out, "  %s: %d in A, %d in B\n", line(n.Method), n.A, n.B)
	}
	p.out.WriteByte('\n')
	if r.Equal {
		fmt.Fprintf(&p.out, "%s equal%s\n", cli.CountIs(r.Same, "call"), ignored(r))
	} else {
		fmt.Fprintf(&p.out, "%s%s\n", summary(r), ignored(r))
	}
	return p.out.Bytes()
}

func (p *printer) side(name string, s *Side) {
	fmt.Fprintf(&p.out, "%s  %s, run %d", name, line(s.File), s.Run)
	if s.ID != "" {
		fmt.Fprintf(&p.out, " (%s)", line(s.ID))
	}
	if s.Client != "" || s.Server != "" {
		fmt.Fprintf(&p.out, ": %s -> %s", orUnknown(s.Client), orUnknown(s.Server))
	}
	fmt.Fprintf(&p.out, ", %s\n", cli.Count(s.Calls, "call"))
}

func orUnknown(name string) string {
	if name == "" {
		return "?"
	}
	return line(name)
}

func summary(r *Result) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{r.Same, "equal"}, {r.Changed, "changed"}, {r.Removed, "only in A"}, {r.Added, "only in B"}, {r.Moved, "moved"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// ignored says how many differences were ignored, by rule.
func ignored(r *Result) string {
	if len(r.Ignored) == 0 {
		return ""
	}
	total := 0
	var rules []string
	for _, i := range r.Ignored {
		total += i.Count
		rules = append(rules, fmt.Sprintf("%s %d", line(i.Rule), i.Count))
	}
	return fmt.Sprintf("; %s ignored (%s)", cli.Count(total, "difference"), strings.Join(rules, ", "))
}

func (p *printer) pair(pair *Pair) {
	mark, color := " ", ""
	switch {
	case pair.State == Removed:
		mark, color = "-", cli.Red
	case pair.State == Added:
		mark, color = "+", cli.Green
	case pair.State == Changed:
		mark, color = "~", cli.Yellow
	case !pair.Moved && !pair.Slower && !pair.Faster:
		return
	}
	text := fmt.Sprintf("%s %s%s", mark, line(strings.TrimSpace(pair.Method+" "+pair.Name)), places(pair))
	if pair.By == "server" {
		text += " (by the server)"
	}
	if pair.Moved {
		text += ", moved"
	}
	if pair.Slower || pair.Faster {
		text += fmt.Sprintf(", %s instead of %s", took(pair.B.TotalUS), took(pair.A.TotalUS))
	}
	p.out.WriteString(cli.Paint(p.color, color, text) + "\n")
	p.differences(pair.Request)
	p.differences(pair.Response)
}

// places says in which lines of the traces the call is.
func places(pair *Pair) string {
	switch {
	case pair.A == nil:
		return fmt.Sprintf("  B:%d %s", pair.B.Seq, pair.B.Status)
	case pair.B == nil:
		return fmt.Sprintf("  A:%d %s", pair.A.Seq, pair.A.Status)
	}
	return fmt.Sprintf("  A:%d B:%d", pair.A.Seq, pair.B.Seq)
}

func took(us int64) string {
	return (time.Duration(us) * time.Microsecond).Round(time.Microsecond * 100).String()
}

func (p *printer) differences(all []Difference) {
	for _, d := range all {
		p.out.WriteString(Text(d, "    ", p.color))
	}
}

// Text returns a difference in up to three lines, each after an indent.
func Text(d Difference, indent string, color bool) string {
	path := line(d.Path)
	if d.Order {
		path += " (order)"
	}
	a, b := excerpts(d.A, d.B)
	var out strings.Builder
	out.WriteString(indent + path + "\n")
	if d.A != nil {
		out.WriteString(indent + cli.Paint(color, cli.Red, "  - "+a) + "\n")
	}
	if d.B != nil {
		out.WriteString(indent + cli.Paint(color, cli.Green, "  + "+b) + "\n")
	}
	return out.String()
}

// excerptSize is how many bytes of a value are printed, and excerptLead how many of them before the
// first difference.
const (
	excerptSize = 160
	excerptLead = 40
)

// excerpts returns the parts of two values that show the first difference.
func excerpts(a, b json.RawMessage) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if max(len(a), len(b)) <= excerptSize {
		same = 0
	}
	from := max(0, same-excerptLead)
	return excerpt(a, from), excerpt(b, from)
}

func excerpt(v json.RawMessage, from int) string {
	from = min(from, len(v))
	to := min(len(v), from+excerptSize)
	for from > 0 && from < len(v) && !utf8.RuneStart(v[from]) {
		from--
	}
	for to < len(v) && !utf8.RuneStart(v[to]) {
		to--
	}
	text := string(v[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(v) {
		text += "…"
	}
	return line(text)
}

// line makes foreign text safe to print on one line.
func line(text string) string { return sanitize.Line(text) }
