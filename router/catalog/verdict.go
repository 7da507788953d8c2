package catalog

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

// A Target is where a name leads: an entry, and the upstream's own spelling
// when the entry does not have it already.
type Target struct {
	Source *Source
	Entry  *Entry // nil for a task
	URI    string // for a URI that a template made; "" otherwise
}

func At(e *Entry) Target { return Target{Source: e.Source, Entry: e} }

// Name is what the upstream calls it.
func (t *Target) Name() string {
	if t.Entry == nil || t.URI != "" {
		return t.URI
	}
	return t.Entry.Item.Name
}

// Audited is the verdict as the audit log spells it.
func (v Verdict) Audited() audit.Verdict {
	if v == Active {
		return audit.Allowed
	}
	return audit.Verdict(v.String())
}
