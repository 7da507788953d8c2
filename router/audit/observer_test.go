package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A counter writes down what an Observer is told.
type counter struct{ told []string }

func (c *counter) Begun(l *Line) { c.told = append(c.told, "begun "+l.Name) }
func (c *counter) Ended(l *Line) {
	c.told = append(c.told, fmt.Sprint("ended ", l.Name, " ", l.Verdict, " ", l.Outcome, " ", l.DurationMS >= 1000))
}

func TestAnObserverIsToldOfEachDecisionOnce(t *testing.T) {
	var file strings.Builder
	for _, w := range []*Writer{nil, NewWriter(&file, Options{})} {
		heard := new(counter)
		w = Watch(w, heard)
		rule := func(Verdict) string { return "a rule" }
		a := w.Begin(Line{Name: "a", Verdict: Allowed}, rule, time.Now().Add(-time.Minute), []byte(`{"x":1}`))
		b := w.Begin(Line{Name: "b", Verdict: Denied}, nil, time.Now().Add(-time.Minute), nil)
		b.End(Refused)
		a.Decide(Confirmed)
		a.End(OK)
		a.End(Gone)
		if err := w.Close(10 * time.Second); err != nil {
			t.Error(err)
		}
		got := strings.Join(heard.told, ", ")
		if want := "begun a, begun b, ended b denied refused true, ended a confirmed ok true"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if n := strings.Count(file.String(), "\n"); n != 2 {
		t.Errorf("%d lines were written, want 2:\n%s", n, file.String())
	}
}

// What nobody will write is not kept.
func TestAWriterWithoutAFileKeepsNothing(t *testing.T) {
	w := Watch(nil, new(counter))
	for range 100 {
		w.Begin(Line{}, nil, time.Now(), []byte(`{"x":1}`)).End(OK)
	}
	if n := w.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}
