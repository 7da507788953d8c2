package router

import (
	"bytes"

	"toolman/router/audit"
)

// A CallObserver is implemented by a session's Sender that keeps more about a request than its frame has,
// as the bridge does. Its methods are called with locks held: they must not block or call the router.
// They may keep the IDs.
type CallObserver interface {
	// Correlation returns the correlation ID of the request with this ID, for the audit log; "" for none.
	Correlation(id []byte) string
	// LocalReply is called with the reason for a reply of toolman itself, just before it is queued.
	LocalReply(id []byte, why Reason)
}

// A Reason says why toolman itself answers a request.
type Reason struct {
	Verdict audit.Verdict // what was decided about it; "" when it was passed on
	Outcome audit.Outcome // how it ended: Refused, or what became of it at its server
	Text    string        // what is wrong, and what to do
}

// tellObserver tells the session's observer, if it has one. The id is copied: a call whose own
// could leave it would be made on the heap.
func (s *conn) tellObserver(id []byte, why Reason) {
	if s.front.observer != nil {
		s.front.observer.LocalReply(bytes.Clone(id), why)
	}
}

// reasonFor is the reason of a request that is not passed on. Without a verdict it was
// not understood.
func reasonFor(verdict, text string) Reason {
	if verdict == "" {
		verdict = string(audit.Invalid)
	}
	return Reason{Verdict: audit.Verdict(verdict), Outcome: audit.Refused, Text: text}
}

// correlation is the correlation ID of a request.
func (s *conn) correlation(req *request) string {
	if s.front.observer == nil {
		return ""
	}
	return s.front.observer.Correlation(bytes.Clone(req.Bytes(req.ID)))
}
