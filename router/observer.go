package router

import (
	"bytes"

	"toolman/router/audit"
)

// A Ledger is what a session's Sender implements that keeps more of a request than the
// frame says, as the bridge does. Both methods are called with locks held: they must not
// wait, nor call the router. Ids are theirs to keep.
type Ledger interface {
	// Correlation returns what the request with this id is called by whoever made it, for
	// the audit log; "" for nothing.
	Correlation(id []byte) string
	// Because says why toolman itself answers the request, just before that answer is queued.
	Because(id []byte, why Reason)
}

// A Reason is why toolman answers a request in a server's place.
type Reason struct {
	Verdict audit.Verdict // what was decided about it; "" when it was passed on
	Outcome audit.Outcome // how it ended: Refused, or what became of it at its server
	Text    string        // what is wrong, and what to do
}

// tellObserver tells the session's ledger, if it has one. The id is copied: a call whose own
// could leave it would be made on the heap.
func (s *conn) tellObserver(id []byte, why Reason) {
	if s.front.ledger != nil {
		s.front.ledger.Because(bytes.Clone(id), why)
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

// correlation is what the ledger calls a request.
func (s *conn) correlation(req *request) string {
	if s.front.ledger == nil {
		return ""
	}
	return s.front.ledger.Correlation(bytes.Clone(req.Bytes(req.ID)))
}
