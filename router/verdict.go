package router

import "toolman/router/audit"

// A Verdict says what a session may do with a name.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Inactive
	Denied    // by the policy
	Held      // back, by its pin
	Ambiguous // a name without its server that several active entries own
	Active
)

// String returns the verdict as the trace spells it.
func (v Verdict) String() string {
	return [...]string{"unknown", "inactive", "denied", "held", "ambiguous", "active"}[v]
}

// A target is where a name leads: an entry, and the upstream's own spelling
// when the entry does not have it already.
type target struct {
	source *Source
	entry  *Entry // nil for a task
	uri    string // for a URI that a template made; "" otherwise
}

func at(e *Entry) target { return target{source: e.Source, entry: e} }

// name is what the upstream calls it.
func (t *target) name() string {
	if t.entry == nil || t.uri != "" {
		return t.uri
	}
	return t.entry.Item.Name
}

// audited is the verdict as the audit log spells it.
func (v Verdict) audited() audit.Verdict {
	if v == Active {
		return audit.Allowed
	}
	return audit.Verdict(v.String())
}
