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
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// untranslatable is the failure of a call whose answer cannot be translated to the client's era.
const untranslatable = "server %s answered in a form that could not be passed on: %v"

// A translation is the additional state of a call between a client and a server of different eras.
type translation struct {
	// request is the call of a legacy client as toolman sends it to a modern server, except for the
	// request ID and the progress token. toolman repeats it if the server requests input
	// (rounds.go).
	request     []byte
	rounds      int   // guarded by Conn.Mu: how often the server has requested input
	earlierTime int64 // nanoseconds from the first to the latest forwarding of the call

	// capabilities are those that a modern client has declared with its call. They decide which
	// requests of a legacy server are sent to the client (suspend.go).
	capabilities []byte
	about        RequestHash   // of the client's request
	asked        int           // guarded by Conn.Mu: how often the client was asked
	suspended    *suspended    // guarded by Conn.Mu: not nil: the call is suspended
	current      clientRequest // guarded by Conn.Mu: valid if asked > 0
}

// TranslateRequest adds the edits that translate a request to the upstream server's era. It reports
// false when the request must not be forwarded; it was then answered or resumes a suspended call.
func (s *Requests) TranslateRequest(req *client.Request, c *calls.Call, t catalog.Target) bool {
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

// TranslateAnswer sends an answer to a client of the other era.
func (s *Requests) TranslateAnswer(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) {
	if c.Modern && c.Context != nil {
		if !s.openOrStore(u, c, m) {
			c.Audited.End(client.OutcomeOf(c, m))
			return // the client has not resumed the call yet
		}
		back.ID = c.TraceID
	}
	s.translateAnswer(u, c, m, out, back)
}

// translateAnswer sends the translated answer and ends the audit record, unless a new inputRound
// begins.
func (s *Requests) translateAnswer(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) {
	var err error
	if m.Err.Present() {
		err = s.translateError(u, c, m, out, back)
	} else {
		err = s.translateResult(u, c, m, out, back)
	}
	how, problem := client.OutcomeOf(c, m), ""
	if err != nil {
		how, problem = audit.Failed, fmt.Sprintf(untranslatable, u.Name, err)
	}
	if how != audit.InputRequired || c.Modern { // otherwise the call continues
		c.Audited.Fail(how, problem)
	}
	if err != nil {
		out.Forget()
		s.NotifyObserver(c.ID(), client.Reason{Outcome: audit.Failed, Text: problem})
		s.Send(out, client.FailureOf(c, problem), *back)
	}
}

// translateResult sends the translated result or begins an inputRound. The error says why the
// result cannot be translated.
func (s *Requests) translateResult(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) error {
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
			err = fmt.Errorf("the client does not know results of type %s", sanitize.Short(string(m.Text(r.Type.Value))))
		}
		if err != nil {
			return err
		}
	}
	out.SetEdits(edits)
	out.Edit(m.ID, out.Copy(c.ID()))
	return s.Pass(out, m, back)
}

// translateError sends the translated error. It returns an error if that is impossible.
func (s *Requests) translateError(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) error {
	edits, remedy, err := mcpwire.JudgeError(out.Edits(), m, c.Method, client.EraOf(u.Source.Modern), client.EraOf(c.Modern))
	if err != nil {
		return err
	}
	switch remedy {
	case mcpwire.AskUser:
		return s.askURLs(u, c, m, out)
	case mcpwire.Explain:
		text, required := mcpwire.ErrorText(m)
		s.Send(out, client.FailureOf(c, explainError(u, text, required)), *back)
		return nil
	case mcpwire.Reconsider:
		return fmt.Errorf("it no longer supports revision %s; restart toolman", mcpwire.Newest)
	}
	out.SetEdits(edits)
	out.Edit(m.ID, out.Copy(c.ID()))
	return s.Pass(out, m, back)
}

// explainError returns the text that reports a modern server's error to the model.
func explainError(u *upstream.Upstream, text string, required []string) string {
	said := fmt.Sprintf("server %s answered: %s", u.Name, sanitize.Cut(text, maxErrorText))
	if len(required) > 0 {
		said += "; it needs capabilities that the client does not offer: " + sanitize.Cut(strings.Join(required, ", "), catalog.NameLimit)
	}
	return said
}

// maxErrorText is the maximum number of bytes that toolman repeats of a server's error message.
const maxErrorText = 2000

// HideTasks removes the declaration of tasks from a modern client's request to a modern server,
// because toolman does not forward tasks of that era.
func (s *Requests) HideTasks(req *client.Request) bool {
	edits, err := mcpwire.HideTasks(req.Out.Edits(), req.Message, &req.Envelope)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	req.Out.SetEdits(edits)
	return true
}

// nameServer returns a server's request or response with the server's name in front of each message
// to the user. It returns m itself if there is no such message.
func nameServer(u *upstream.Upstream, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	edits, err := inputreq.NameAsker(nil, m, u.Name)
	if err != nil || len(edits) == 0 {
		return m, err
	}
	named := new(jsonrpc.Message)
	return named, jsonrpc.Scan(jsonrpc.AppendSplice(nil, m.Frame, edits...), named)
}

// NameServerInResponse is nameServer for a response. elicits reports whether the result may contain
// elicitations. A response with an ambiguous message to the user becomes an error.
func NameServerInResponse(u *upstream.Upstream, m *jsonrpc.Message, elicits bool) *jsonrpc.Message {
	if !elicits && !m.Err.Present() {
		return m
	}
	said, err := nameServer(u, m)
	if err != nil {
		said = new(jsonrpc.Message)
		text := fmt.Sprintf(untranslatable, u.Name, err)
		_ = jsonrpc.Scan(jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeInternalError, text, nil), said) // toolman's own frame
	}
	return said
}
