package prom

import (
	"strconv"
	"strings"
	"time"
)

// A Metric can be written on a page.
type Metric interface{ write(*Page) }

// A Gauge is a metric that is known when it is asked for. Its function writes it, with
// [Page.Begin] before each name's values.
type Gauge func(*Page)

func (g Gauge) write(p *Page) { g(p) }

// A Page is what Prometheus reads at one time.
type Page struct {
	format Format
	text   strings.Builder
	name   string // of the metric that is being written
	labels []string
}

// Begin begins a metric of a kind ("gauge", "counter"). labels are the names of its
// values' labels.
func (p *Page) Begin(name, kind, help string, labels ...string) {
	p.name, p.labels = name, labels
	if p.format == OpenMetrics && kind == "counter" {
		name = strings.TrimSuffix(name, "_total") // there it is the name of the one value that a counter has
	}
	p.text.WriteString("# HELP " + name + " " + helpText(help) + "\n# TYPE " + name + " " + kind + "\n")
}

// Value writes a value of the metric that was begun last, with a value for each label.
func (p *Page) Value(v float64, values ...string) { p.line(p.name, "", p.labels, values, v, nil) }

// helpText escapes what has to be in a help text, and labelValue in a label's value.
func helpText(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "\n", `\n`)
}

func labelValue(text string) string {
	return strings.ReplaceAll(helpText(strings.ToValidUTF8(text, "\uFFFD")), `"`, `\"`)
}

func (p *Page) line(name, suffix string, labels, values []string, v float64, e *exemplar) {
	p.text.WriteString(name)
	p.text.WriteString(suffix)
	for i, label := range labels {
		p.text.WriteByte("{,"[min(i, 1)])
		p.text.WriteString(label + `="` + labelValue(values[i]) + `"`)
	}
	if len(labels) > 0 {
		p.text.WriteByte('}')
	}
	p.text.WriteString(" " + number(v))
	if e != nil && p.format == OpenMetrics {
		p.exemplar(e)
	}
	p.text.WriteByte('\n')
}

func (p *Page) exemplar(e *exemplar) {
	at := strconv.FormatFloat(float64(e.at.UnixMilli())/1000, 'f', 3, 64)
	p.text.WriteString(` # {` + exemplarLabel + `="` + labelValue(e.id) + `"} ` + number(e.took.Seconds()) + " " + at)
}

// bound is the upper end of a bucket. OpenMetrics wants to see that it is no integer.
func (p *Page) bound(d time.Duration) string {
	text := number(d.Seconds())
	if p.format == OpenMetrics && !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// Render writes metrics in this order.
func Render(f Format, metrics ...Metric) string {
	p := Page{format: f}
	for _, m := range metrics {
		m.write(&p)
	}
	if f == OpenMetrics {
		p.text.WriteString("# EOF\n")
	}
	return p.text.String()
}
