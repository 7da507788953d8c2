package input

import (
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
)

// ChangedMeanwhile is the reason for refusing a call whose tool has changed since the confirmation.
const ChangedMeanwhile = "it was changed by its server while a person was asked; look at its definition, and call it again"

// stillCallable reports whether a tool is unchanged and may still be called.
func (s *Requests) stillCallable(e *catalog.Entry) bool {
	t, verdict := s.View.Load().Find(mcpwire.Tool, []byte(e.Name))
	return verdict == catalog.Active && t.Entry == e
}

// PrepareRetry records the hash of a modern client's call of a dangerous tool at a modern server.
// The client may retry the call with answers to the server's input requests.
func (s *Requests) PrepareRetry(req *client.Request, c *calls.Call, t catalog.Target) {
	if t.Entry.NeedsConfirmation() && c.Modern && t.Source.Modern {
		c.Context = &translation{about: s.signer.requestHash(req.Message, c.Method, t)}
	}
}

// PermitRetry adds a permit for the retry if a modern server requests input during a dangerous
// tool's call. The user has already confirmed that call.
func (s *Requests) PermitRetry(c *calls.Call, m *jsonrpc.Message) {
	r, err := mcpwire.ResultOf(m)
	if err != nil || r.ResultType(m) != mcpwire.ResultInputRequired {
		return
	}
	in, err := inputreq.InputOf(&r, m)
	if err != nil {
		return
	}
	s.Mu.Lock()
	s.AllowRetry(translationOf(c).about, c.Entry, m.Text(in.State), true)
	s.Mu.Unlock()
}

// AllowRetry adds a permit for a retry with this state. The permit applies to the tool as it is
// now.
func (s *Requests) AllowRetry(about RequestHash, e *catalog.Entry, state []byte, agreed bool) {
	now := s.Clock.Now()
	s.permits.add(RetryPermit{about, e, s.signer.hash(state), agreed, now + int64(stateLifetime)}, now)
}

// maxPermits is the limit of retryPermits per session. The oldest are dropped.
const maxPermits = 256

// A RetryPermit allows a modern client to retry a call of a dangerous tool once, with the same
// arguments and with this requestState. Without a permit no retry of such a call reaches the
// server, because a client can invent a state.
type RetryPermit struct {
	about     RequestHash
	Entry     *catalog.Entry // as it was at the confirmation
	state     uint64         // hash of the requestState that the retry must contain
	Confirmed bool           // the user has confirmed the call; if false, the retry contains the answer
	expires   int64          // on the router's clock
}

// retryPermits are the permits of a session, oldest first.
type retryPermits []RetryPermit

// add adds a permit. It drops expired permits, and the oldest one if there are too many.
func (all *retryPermits) add(p RetryPermit, now int64) {
	*all = slices.DeleteFunc(*all, func(p RetryPermit) bool { return p.expires < now })
	if len(*all) == maxPermits {
		*all = slices.Delete(*all, 0, 1)
	}
	*all = append(*all, p)
}

// take removes and returns the permit for a request and a state.
func (all *retryPermits) take(about RequestHash, state uint64, now int64) (RetryPermit, bool) {
	i := slices.IndexFunc(*all, func(p RetryPermit) bool { return p.about == about && p.state == state && p.expires >= now })
	if i < 0 {
		return RetryPermit{}, false
	}
	p := (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return p, true
}

// TakePermit removes and returns the permit for a retry with this state.
func (s *Requests) TakePermit(about RequestHash, state []byte) (RetryPermit, bool) {
	return s.permits.take(about, s.signer.hash(state), s.Clock.Now())
}

// HashOf returns the hash of a client's request for what t leads to.
func (s *Requests) HashOf(req *client.Request, t catalog.Target) RequestHash {
	return s.signer.requestHash(req.Message, req.Method, t)
}

// ConfirmState returns a requestState that only confirms a call.
func (s *Requests) ConfirmState(about RequestHash) string {
	return s.stateFor(about, stateConfirm, newHandle())
}

// Resumes reports whether a requestState belongs to a suspended call. The error says that toolman
// has not given the state for this request.
func (s *Requests) Resumes(about RequestHash, state []byte) (bool, *mcpwire.Refusal) {
	st, ours := s.signer.verifyState(state, about, s.Info.Principal)
	if !ours {
		return false, errUnknownState
	}
	return st.kind == stateResume, nil
}
