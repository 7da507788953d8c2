package prom

import "strings"

// A Metric can be written on a page.
type Metric interface{ write(*Page) }

// A Gauge is a metric that is known when it is asked for. Its function writes it, with
// [Page.Begin] before each name's values.
type Gauge func(*Page)

func (g Gauge) write(p *Page) { g(p) }

// A Page is what Prometheus reads at one time.
type Page struct {
	text   strings.Builder
	name   string // of the metric that is being written
	labels []string
}

// Begin begins a metric of a kind ("gauge", "counter"). labels are the names of its
// values' labels.
func (p *Page) Begin(name, kind, help string, labels ...string) {
	p.name, p.labels = name, labels
	p.text.WriteString("# HELP " + name + " " + helpText.Replace(help) + "\n# TYPE " + name + " " + kind + "\n")
}

// Value writes a value of the metric that was begun last, with a value for each label.
func (p *Page) Value(v float64, values ...string) { p.line(p.name, "", p.labels, values, v) }

var (
	helpText  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	labelText = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

func (p *Page) line(name, suffix string, labels, values []string, v float64) {
	p.text.WriteString(name)
	p.text.WriteString(suffix)
	for i, label := range labels {
		p.text.WriteByte("{,"[min(i, 1)])
		p.text.WriteString(label + `="` + labelText.Replace(strings.ToValidUTF8(values[i], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		p.text.WriteByte('}')
	}
	p.text.WriteString(" " + number(v) + "\n")
}

// Render writes metrics in this order.
func Render(metrics ...Metric) string {
	var p Page
	for _, m := range metrics {
		m.write(&p)
	}
	return p.text.String()
}
