package filter

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"toolman/jsonrpc/trace"
)

// A Subject is what a filter is applied to: a call, a frame or an event.
type Subject struct {
	Peers, Methods, Names []string
	IDs                   []string // JSON-RPC IDs, as JSON
	Events                []string
	Traits                Traits
	Call, Run, Status     string
	Code                  int
	Failed                bool
	Bytes                 int           // 0: unknown
	Dur                   time.Duration // 0: unknown
	Texts                 []bool        // which of the filter's texts it holds: what Find returns
}

// Traits are what kind:, leg:, dir: and is: ask for. A call has those of all its frames.
type Traits uint32

// The traits.
const (
	Call Traits = 1 << iota // a call, not one of its frames
	request
	response
	notification
	invalid
	event
	session
	in
	out
	client
	upstream
	held
	fault
	edited
	redacted
	truncated
	rewritten
	refused
	late
)

// wordsOf returns the words of a filter for traits, with the trait at the same place.
func wordsOf(key string) ([]string, []Traits) {
	switch key {
	case "kind":
		return []string{"call", "request", "response", "notification", "invalid", "event", "session"},
			[]Traits{Call, request, response, notification, invalid, event, session}
	case "dir":
		return []string{"in", "out"}, []Traits{in, out}
	case "leg":
		return []string{"client", "upstream"}, []Traits{client, upstream}
	}
	return []string{"held", "fault", "edited", "redacted", "truncated", "rewritten", "refused", "late"},
		[]Traits{held, fault, edited, redacted, truncated, rewritten, refused, late}
}

// TraitsOf returns the traits of a frame or event.
func TraitsOf(r *trace.Record) Traits {
	t := map[trace.Kind]Traits{trace.Request: request, trace.Response: response, trace.Notification: notification, trace.Invalid: invalid}[r.Kind]
	for _, has := range []struct {
		trait Traits
		is    bool
	}{
		{event, r.Type == trace.TypeEvent}, {session, r.Type == trace.TypeSession},
		{in, r.Dir == trace.In}, {out, r.Dir == trace.Out}, {client, r.Leg == trace.Client}, {upstream, r.Leg == trace.Upstream},
		{redacted, len(r.Redacted) > 0}, {truncated, r.Trunc}, {rewritten, len(r.Rewrote) > 0},
		{refused, IsRefusal(r.Verdict)}, {late, r.Status == trace.StatusLate},
	} {
		if has.is {
			t |= has.trait
		}
	}
	return t | HeldOf(r)
}

// HeldOf returns the traits that an event of a debugger gives to its message.
func HeldOf(r *trace.Record) Traits {
	switch {
	case r.Event == trace.EventReleased && r.Done == trace.DoneEdited:
		return held | edited
	case r.Event == trace.EventHeld, r.Event == trace.EventReleased:
		return held
	case r.Event == trace.EventFault:
		return held | fault
	}
	return 0
}

// Late returns t with the trait of a call that was answered after it was over.
func (t Traits) Late() Traits { return t | late }

// IsRefusal reports whether toolman refused what has this verdict.
func IsRefusal(verdict string) bool {
	return !slices.Contains([]string{"", "active", "allow", "allowed", "confirmed", trace.StatusLocal}, verdict)
}

// SubjectOf returns a frame or an event as a subject.
func (f *Filter) SubjectOf(r *trace.Record) *Subject {
	return &Subject{
		Peers: []string{r.Peer, string(r.Leg)}, Methods: []string{r.Method}, Names: []string{r.Name},
		IDs: []string{string(r.ID)}, Events: []string{r.Event}, Traits: TraitsOf(r),
		Call: r.Call, Run: r.Run, Status: r.Status, Code: r.Code, Failed: r.Failed() || r.Kind == trace.Invalid,
		Bytes: r.Bytes, Dur: time.Duration(cmp.Or(r.TotalUS, r.LegUS)) * time.Microsecond,
		Texts: f.Find(r),
	}
}

// Find reports which of the texts are in r.
func (f *Filter) Find(r *trace.Record) []bool {
	if len(f.texts) == 0 {
		return nil
	}
	said := bytes.ToLower(slices.Concat(r.Payload(), []byte("\n"+r.Method+"\n"+r.Name+"\n"+r.Peer+"\n"+r.Event)))
	found := make([]bool, len(f.texts))
	for i, text := range f.texts {
		found[i] = bytes.Contains(said, text)
	}
	return found
}
