package prom

import (
	"math"
	"mime"
	"strconv"
	"strings"
	"time"
)

// A Metric can be written to a Page.
type Metric interface{ write(*Page) }

// A Gauge is a metric that is computed when it is read. The function writes it, with [Page.Begin]
// before the values of each name.
type Gauge func(*Page)

func (g Gauge) write(p *Page) { g(p) }

// A Page is one response to Prometheus.
type Page struct {
	format Format
	text   strings.Builder
	name   string // of the metric that is being written
	labels []string
}

// Begin begins a metric of a kind ("gauge", "counter") with these labels.
func (p *Page) Begin(name, kind, help string, labels ...string) {
	p.name, p.labels = name, labels
	if p.format == OpenMetrics && kind == "counter" {
		name = strings.TrimSuffix(name, "_total") // OpenMetrics has that suffix only in the name of the value
	}
	p.text.WriteString("# HELP " + name + " " + helpText(help) + "\n# TYPE " + name + " " + kind + "\n")
}

// Value writes a value of the metric that was begun last, with the values of its labels.
func (p *Page) Value(v float64, values ...string) { p.line(p.name, "", p.labels, values, v, nil) }

// Gauge writes a gauge without labels.
func (p *Page) Gauge(name, help string, v float64) {
	p.Begin(name, "gauge", help)
	p.Value(v)
}

// Count writes a counter without labels. Its name should end in _total.
func (p *Page) Count(name, help string, n uint64) {
	p.Begin(name, "counter", help)
	p.Value(float64(n))
}

// Summary writes how many durations there were, and their sum. The name should end in _seconds.
func (p *Page) Summary(name, help string, n uint64, sum time.Duration) {
	p.Begin(name, "summary", help)
	p.line(name, "_sum", nil, nil, sum.Seconds(), nil)
	p.line(name, "_count", nil, nil, float64(n), nil)
}

// helpText escapes a help text, and labelValue the value of a label.
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

// bound returns the upper bound of a bucket. OpenMetrics requires a decimal point.
func (p *Page) bound(d time.Duration) string {
	text := number(d.Seconds())
	if p.format == OpenMetrics && !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// Render returns a page with metrics in this order.
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

// number returns a number as both formats write it.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// A Format is a text format.
type Format int

// The formats. OpenMetrics, in version 1.0, is the only one with exemplars.
const (
	Text Format = iota
	OpenMetrics
)

// ContentType returns the media type of the format.
func (f Format) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// Negotiate returns the format for a request with these headers Accept: OpenMetrics if that is
// accepted, unless plain text is preferred.
func Negotiate(accept []string) Format {
	wanted := [2]float64{}
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			q, _ = strconv.ParseFloat(text, 64) // 0 if it is not valid
		}
		switch {
		case kind == "text/plain":
			wanted[Text] = max(wanted[Text], q)
		case kind == "application/openmetrics-text" && readable(params["version"]):
			wanted[OpenMetrics] = max(wanted[OpenMetrics], q)
		}
	}
	if wanted[OpenMetrics] > 0 && wanted[OpenMetrics] >= wanted[Text] {
		return OpenMetrics
	}
	return Text
}

// readable reports whether a client that reads a version of OpenMetrics, "" if it names none, reads
// 1.0.0.
func readable(version string) bool { return version == "" || version == "0.0.1" || version == "1.0.0" }
