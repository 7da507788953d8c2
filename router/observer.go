package router

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
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

// TellObserver tells the session's ledger, if it has one. The id is copied: a call whose own
// could leave it would be made on the heap.
func (s *Conn) TellObserver(id []byte, why Reason) {
	if s.Front.Ledger != nil {
		s.Front.Ledger.Because(bytes.Clone(id), why)
	}
}

// ReasonFor is the reason of a request that is not passed on. Without a verdict it was
// not understood.
func ReasonFor(verdict, text string) Reason {
	if verdict == "" {
		verdict = string(audit.Invalid)
	}
	return Reason{Verdict: audit.Verdict(verdict), Outcome: audit.Refused, Text: text}
}

// correlation is what the ledger calls a request.
func (s *Conn) correlation(req *Request) string {
	if s.Front.Ledger == nil {
		return ""
	}
	return s.Front.Ledger.Correlation(bytes.Clone(req.Bytes(req.ID)))
}

// A CallChecker is implemented by a session's Sender that checks calls of tools against more than
// the message. It is called with locks held, and must not call the router.
type CallChecker interface {
	// CheckCall returns why a call is refused; nil if it is not.
	CheckCall(m *jsonrpc.Message, tool *catalog.Entry) *mcpwire.Refusal
}
