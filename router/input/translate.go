package input

import (
	"bytes"
	"fmt"
	"strings"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// What is said of a call whose answer cannot be made one of the client's era.
const untranslatable = "server %s answered in a form that could not be passed on: %v"

// A translation is what a call that crosses from one era to the other needs beyond
// the call itself.
type translation struct {
	// request is the call of a legacy client, in all but its id and progress token as
	// it goes to a modern server: that may want it again, with more (rounds.go).
	request []byte
	rounds  int   // guarded by Conn.Mu: how often the server has asked for input
	before  int64 // nanoseconds from when the call was first passed on until it was last

	// capabilities are what a modern client has declared with its call: what a legacy
	// server asks during it is asked of the client if they allow it (suspend.go).
	capabilities []byte
	about        requestHash // what is called
	asked        int         // guarded by Conn.Mu: how often the client was asked
	suspended    *suspended  // guarded by Conn.Mu: the call waits for the client's answers
	turn         turn        // guarded by Conn.Mu: once asked, what the client waits for the call with
}

// TranslateRequest adds the edits that make a request one of the upstream's era. It
// reports false when the request goes nowhere, and was dealt with.
func (s *Requests) TranslateRequest(req *client.Request, c *upstream.Call, t catalog.Target) bool {
	if !req.Modern {
		req.Out.SetEdits(s.Peer.Meta.AddTo(req.Out.Edits(), req.Message, &req.Envelope))
		if mcpwire.TakesInput(c.Method) {
			c.Context = &translation{}
		}
		return true
	}
	if !mcpwire.TakesInput(c.Method) {
		req.Out.SetEdits(mcpwire.StripEnvelope(req.Out.Edits(), req.Message, &req.Envelope))
		return true
	}
	retry, err := inputreq.RetryOf(req.Message)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	about := s.signer.requestHash(req.Message, c.Method, t)
	if retry.Is() && !s.resume(req, c, about, &retry) {
		return false
	}
	req.Out.SetEdits(retry.Strip(req.Out.Edits(), req.Message, &req.Envelope))
	c.Context = &translation{capabilities: bytes.Clone(req.Bytes(req.Envelope.Capabilities.Value)), about: about}
	return true
}

// AnswerAcross gives an answer to a client of the other era.
func (s *Requests) AnswerAcross(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) {
	if c.Modern && c.Context != nil {
		if !s.awaited(u, c, m) {
			c.Audited.End(client.OutcomeOf(c, m))
			return // the client has not come back for it yet
		}
		back.ID = c.TraceID
	}
	s.cross(u, c, m, out, back)
}

func (s *Requests) cross(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) {
	var err error
	if m.Err.Present() {
		err = s.crossError(u, c, m, out, back)
	} else {
		err = s.crossResult(u, c, m, out, back)
	}
	how := client.OutcomeOf(c, m)
	if err != nil {
		how = audit.Failed
	}
	if how != audit.InputRequired || c.Modern { // else it goes on
		c.Audited.End(how)
	}
	if err != nil {
		out.Forget()
		problem := fmt.Sprintf(untranslatable, u.Name, err)
		s.NotifyObserver(c.ID(), client.Reason{Outcome: audit.Failed, Text: problem})
		s.Send(out, client.FailureOf(c, problem), *back)
	}
}

func (s *Requests) crossResult(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) error {
	r, err := mcpwire.ResultOf(m)
	if err != nil {
		return err
	}
	edits := out.Edits()
	if c.Modern {
		edits = r.ToModern(edits, m, c.Method)
	} else {
		switch r.ResultType(m) {
		case mcpwire.ResultComplete:
			edits, err = r.ToLegacy(edits, m, c.Method, c.Entry != nil && c.Entry.Wrapped)
		case mcpwire.ResultInputRequired:
			return s.beginRound(u, c, m, &r, out)
		default:
			err = fmt.Errorf("a result of type %s is nothing that the client knows", sanitize.Short(string(m.Text(r.Type.Value))))
		}
		if err != nil {
			return err
		}
	}
	out.SetEdits(edits)
	out.Edit(m.ID, out.Copy(c.ID()))
	return s.Pass(out, m, back)
}

func (s *Requests) crossError(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) error {
	edits, remedy, err := mcpwire.JudgeError(out.Edits(), m, c.Method, client.EraOf(u.Source.Modern), client.EraOf(c.Modern))
	if err != nil {
		return err
	}
	switch remedy {
	case mcpwire.AskUser:
		return s.askURLs(u, c, m, out)
	case mcpwire.Explain:
		text, required := mcpwire.ErrorText(m)
		s.Send(out, client.FailureOf(c, explained(u, text, required)), *back)
		return nil
	case mcpwire.Reconsider:
		return fmt.Errorf("it does not speak revision %s any more; have toolman restarted", mcpwire.Newest)
	}
	out.SetEdits(edits)
	out.Edit(m.ID, out.Copy(c.ID()))
	return s.Pass(out, m, back)
}

// explained says what went wrong in a modern server, for a model.
func explained(u *upstream.Upstream, text string, required []string) string {
	said := fmt.Sprintf("server %s answered: %s", u.Name, sanitize.Cut(text, maxSaid))
	if len(required) > 0 {
		said += "; it needs of the client what that does not offer: " + sanitize.Cut(strings.Join(required, ", "), catalog.NameLimit)
	}
	return said
}

// maxSaid is how many bytes of a server's error message are repeated.
const maxSaid = 2000

// HideTasks keeps from a modern server that a modern client knows tasks, which toolman
// does not pass on.
func (s *Requests) HideTasks(req *client.Request) bool {
	edits, err := mcpwire.HideTasks(req.Out.Edits(), req.Message, &req.Envelope)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	req.Out.SetEdits(edits)
	return true
}

// named is a request of the server, or its response, in which each message for the client's user
// begins with the server's name. It is m itself where there is no such message.
func named(u *upstream.Upstream, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	edits, err := inputreq.NameAsker(nil, m, u.Name)
	if err != nil || len(edits) == 0 {
		return m, err
	}
	named := new(jsonrpc.Message)
	return named, jsonrpc.Scan(jsonrpc.AppendSplice(nil, m.Frame, edits...), named)
}

// NamedResponse is named for a response; elicits reports whether its result may ask something. A
// response in which it is not clear what the user is asked becomes an error.
func NamedResponse(u *upstream.Upstream, m *jsonrpc.Message, elicits bool) *jsonrpc.Message {
	if !elicits && !m.Err.Present() {
		return m
	}
	said, err := named(u, m)
	if err != nil {
		said = new(jsonrpc.Message)
		text := fmt.Sprintf(untranslatable, u.Name, err)
		_ = jsonrpc.Scan(jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeInternalError, text, nil), said) // toolman's own frame
	}
	return said
}
