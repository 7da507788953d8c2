package prom

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
)

func TestRender(t *testing.T) {
	calls := NewCounter("calls_total", "Calls\nmade.", "server", "outcome")
	calls.Add(2, "b", "ok")
	calls.Add(1, "a", `say "no"\`+"\n\xff")
	calls.Add(1, "b", "ok")
	took := NewHistogram("took_seconds", "Time.", []time.Duration{10 * time.Millisecond, time.Second}, "server")
	for _, d := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 11 * time.Millisecond, time.Minute} {
		took.Observe("", d, "a")
	}
	up := Gauge(func(p *Page) {
		p.Begin("up", "gauge", "Is it?", "server")
		p.Value(1, "a")
		p.Value(0.5, "b")
		p.Begin("here", "gauge", "Yes.")
		p.Value(1e9)
		p.Count("all_total", "All.", 7)
		p.Summary("sum_seconds", "Together.", 2, 1500*time.Millisecond)
	})
	const want = `# HELP calls_total Calls\nmade.
# TYPE calls_total counter
calls_total{server="a",outcome="say \"no\"\\\n` + "\uFFFD" + `"} 1
calls_total{server="b",outcome="ok"} 3
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{server="a",le="0.01"} 2
took_seconds_bucket{server="a",le="1"} 3
took_seconds_bucket{server="a",le="+Inf"} 4
took_seconds_sum{server="a"} 60.022
took_seconds_count{server="a"} 4
# HELP up Is it?
# TYPE up gauge
up{server="a"} 1
up{server="b"} 0.5
# HELP here Yes.
# TYPE here gauge
here 1000000000
# HELP all_total All.
# TYPE all_total counter
all_total 7
# HELP sum_seconds Together.
# TYPE sum_seconds summary
sum_seconds_sum 1.5
sum_seconds_count 2
`
	got := Render(Text, calls, took, up)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkFormat(t, got)
}

// What OpenMetrics has of its own: names without _total, bounds that are no integers, exemplars,
// and an end.
func TestRenderOpenMetrics(t *testing.T) {
	calls := NewCounter("calls_total", "Calls.")
	calls.Add(2)
	took := NewHistogram("took_seconds", "Time.", []time.Duration{10 * time.Millisecond, time.Second}, "server")
	took.Observe("old", time.Millisecond, "a")
	took.Observe("job-1", 2*time.Millisecond, "a")
	took.Observe("", time.Millisecond, "a")
	took.Observe(strings.Repeat("x", maxExemplar+1), 20*time.Millisecond, "a")
	took.Observe(strings.Repeat("x", maxExemplar), time.Minute, "a")
	up := Gauge(func(p *Page) {
		p.Begin("starts_total", "counter", "Starts.", "server")
		p.Value(1, "a")
	})
	const want = `# HELP calls Calls.
# TYPE calls counter
calls_total 2
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{server="a",le="0.01"} 3 # {correlation_id="job-1"} 0.002 AT
took_seconds_bucket{server="a",le="1.0"} 4
took_seconds_bucket{server="a",le="+Inf"} 5 # {correlation_id="LONG"} 60 AT
took_seconds_sum{server="a"} 60.024
took_seconds_count{server="a"} 5
# HELP starts Starts.
# TYPE starts counter
starts_total{server="a"} 1
# EOF
`
	page := Render(OpenMetrics, calls, took, up)
	got := regexp.MustCompile(`(?m) \d{10,}\.\d{3}$`).ReplaceAllString(page, " AT")
	got = strings.Replace(got, strings.Repeat("x", maxExemplar), "LONG", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", page, want)
	}
	text := Render(Text, calls, took, up)
	if strings.Contains(text, "correlation_id") || strings.Contains(text, "EOF") || !strings.Contains(text, `le="1"`) {
		t.Errorf("got\n%s", text)
	}
	checkFormat(t, text)
}

func TestOpenMetricsIsForThoseWhoAskForIt(t *testing.T) {
	for accept, want := range map[string]Format{
		"":                             Text,
		"*/*":                          Text,
		"text/plain;version=0.0.4":     Text,
		"application/openmetrics-text": OpenMetrics,
		"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2": OpenMetrics,
		"text/plain, application/openmetrics-text; version=0.0.1; q=0.5": Text,
		"application/openmetrics-text; version=2.0.0":                    Text,
		"application/openmetrics-text; q=0":                              Text,
		"application/openmetrics-text; q=much":                           Text,
		"application/openmetrics-text; version=\"":                       Text,
	} {
		if got := Negotiate([]string{accept}); got != want {
			t.Errorf("%q gets %s", accept, got.ContentType())
		}
	}
}

// checkFormat has Prometheus's own reader read a page.
func checkFormat(t *testing.T, page string) {
	t.Helper()
	var parser expfmt.TextParser
	if _, err := parser.TextToMetricFamilies(strings.NewReader(page)); err != nil {
		t.Errorf("Prometheus cannot read it: %v", err)
	}
}

// What is counted must not fill the memory, whatever the values are.
func TestSeriesAreBounded(t *testing.T) {
	c := NewCounter("calls_total", "Calls.", "name", "outcome")
	for i := range 3 * MaxSeries {
		c.Add(1, fmt.Sprint("name", i), "ok")
	}
	c.Add(1, "name0", "ok")
	page := Render(Text, c)
	if n := strings.Count(page, "\ncalls_total{"); n != MaxSeries {
		t.Errorf("%d series, want %d", n, MaxSeries)
	}
	for _, line := range []string{
		`calls_total{name="name0",outcome="ok"} 2`,
		fmt.Sprintf(`calls_total{name="_other",outcome="_other"} %d`, 2*MaxSeries+1),
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func TestNothingIsLostWhenManyCount(t *testing.T) {
	c, h := NewCounter("calls_total", "Calls.", "name"), NewHistogram("took_seconds", "Time.", []time.Duration{time.Second}, "name")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 1000 {
				c.Add(1, fmt.Sprint(i%2))
				h.Observe("", time.Millisecond, fmt.Sprint(i%2))
				Render(Text, c, h)
			}
		})
	}
	all.Wait()
	page := Render(Text, c, h)
	for _, line := range []string{`calls_total{name="0"} 4000`, `calls_total{name="1"} 4000`, `took_seconds_bucket{name="1",le="1"} 4000`, `took_seconds_sum{name="0"} 4`} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("no line %s in\n%s", line, page)
		}
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	c, h := NewCounter("calls_total", "Calls.", "name"), NewHistogram("took_seconds", "Time.", []time.Duration{time.Second}, "name")
	count := func() {
		c.Add(1, "a")
		h.Observe("", time.Millisecond, "a")
	}
	count()
	if n := testing.AllocsPerRun(1000, count); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
