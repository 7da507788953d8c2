package printer

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/trace"
)

// frameLine prints one frame or event in the notation of transcripts.
func (p *Printer) frameLine(r *trace.Record, indent string) {
	label := clean(cmp.Or(r.Peer, p.calls.Self()))
	if r.Leg == trace.Client {
		label = string(trace.Client)
	}
	p.width = max(p.width, min(utf8.RuneCountInString(label), 24))
	sign, text, hue := "-", eventText(r), cli.Yellow
	if r.Type == trace.TypeFrame {
		sign, text, hue = map[trace.Dir]string{trace.In: ">", trace.Out: "<"}[r.Dir], payload(r), frameColor(r)
	}
	p.line(indent + p.paint(cli.Faint, since(r.US)) + " " + p.paint(hue, pad(label, -p.width)+" "+sign) + " " + text)
	if details := details(r); p.opts.Verbose && p.opts.Frames && details != "" {
		p.line(p.paint(cli.Faint, "       "+details))
	}
}

// payload returns a frame as far as the trace has it.
func payload(r *trace.Record) string {
	text := clean(string(r.Payload()))
	if r.Trunc {
		text += fmt.Sprintf(" … (%s in all)", size(r.Bytes))
	}
	return text
}

func frameColor(r *trace.Record) string {
	switch {
	case r.Kind == trace.Invalid || r.Failed():
		return cli.Red
	case r.Leg == trace.Client:
		return cli.Cyan
	}
	return cli.Green
}

// details returns what the trace has about a frame besides its bytes.
func details(r *trace.Record) string {
	if r.Type != trace.TypeFrame {
		return ""
	}
	words := []string{r.Call, string(r.Kind), title(r), r.Status}
	switch {
	case r.TotalUS > 0 && r.OwnUS > 0:
		words = append(words, "total "+duration(r.TotalUS)+", own "+duration(r.OwnUS))
	case r.TotalUS > 0: // of a tap, for example
		words = append(words, "total "+duration(r.TotalUS))
	case r.LegUS > 0:
		words = append(words, "took "+duration(r.LegUS))
	}
	if r.Verdict != "" {
		words = append(words, "verdict "+r.Verdict)
	}
	if len(r.Rewrote) > 0 {
		words = append(words, "rewrote "+strings.Join(r.Rewrote, ", "))
	}
	if len(r.Redacted) > 0 {
		words = append(words, strings.TrimSpace("redacted "+strings.Join(r.Redacted, ", ")))
	}
	return clean(join(" | ", append(words, r.Rule, size(r.Bytes))...))
}

// session prints the first record of a run.
func (p *Printer) session(r *trace.Record) {
	if p.opts.JSON {
		p.single(r)
		return
	}
	s := r.Session
	words := []string{"session " + s.Run, r.Time.UTC().Format(time.DateTime + "Z"), "toolman " + s.Toolman, s.Config}
	for _, u := range s.Upstreams {
		words = append(words, cmp.Or(u.Name, `""`)+" = "+shorten(u.Command, 60))
	}
	p.line(p.paint(cli.Bold, clean(join("  ", words...))))
}
