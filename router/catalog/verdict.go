package catalog

import "toolman/router/audit"

// A Verdict says whether and why a session may or may not use a name.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Inactive
	Denied    // by the policy
	Held      // held back by its pin
	Ambiguous // a name without server that several active entries have
	Active
)

// String returns the verdict as spelled in the trace.
func (v Verdict) String() string {
	return [...]string{"unknown", "inactive", "denied", "held", "ambiguous", "active"}[v]
}

// A Target is what a name refers to: an entry, and the server's spelling of a URI that matched the
// entry's template.
type Target struct {
	Source *Source
	Entry  *Entry // nil for a task
	URI    string // if the entry's template matched it; "" otherwise
}

// TargetOf returns the target of an entry's own name.
func TargetOf(e *Entry) Target { return Target{Source: e.Source, Entry: e} }

// Name returns the server's name for the target.
func (t *Target) Name() string {
	if t.Entry == nil || t.URI != "" {
		return t.URI
	}
	return t.Entry.Item.Name
}

// Audited returns the verdict as spelled in the audit log.
func (v Verdict) Audited() audit.Verdict {
	if v == Active {
		return audit.Allowed
	}
	return audit.Verdict(v.String())
}
