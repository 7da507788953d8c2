package client

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// OwnRule is the rule about what is toolman's own.
const OwnRule = "it is toolman's own, and no policy is about it"

// audits reports whether requests of a method are decided about.
func audits(method mcpwire.Method) bool {
	return upstream.Limited(method) || method == mcpwire.Subscribe || method == mcpwire.Unsubscribe || method == mcpwire.Listen
}

// Decide begins the audit of the request being handled, which is about where t
// leads, and has this correlation number. If there is a decision about it already, that
// is another now.
func (s *Conn) Decide(req *Request, t catalog.Target, verdict audit.Verdict, n uint64) *audit.Decision {
	if s.Audit == nil || !audits(req.Method) {
		return nil
	}
	if d := req.Decision; d != nil {
		req.Decision = nil
		d.Decide(verdict)
		return d
	}
	at, kind, _ := mcpwire.Target(req.Message, req.Method)
	line := about(s.line(req.Method, verdict, n), kind, string(req.Text(at)), t)
	line.Correlation = s.correlation(req)
	return s.begin(req, line, s.rule(t.Entry), givenWith(req.Message, req.Method))
}

// DecideForwarded is Decide for a request that is passed on: it may be, or somebody
// has agreed to it.
func (s *Conn) DecideForwarded(req *Request, t catalog.Target, n uint64) *audit.Decision {
	verdict := audit.Allowed
	if req.Decision != nil {
		verdict = audit.Confirmed
	}
	return s.Decide(req, t, verdict, n)
}

// DecideOwn is Decide for what is toolman's own.
func (s *Conn) DecideOwn(req *Request, n uint64) *audit.Decision {
	if s.Audit == nil || !audits(req.Method) {
		return nil
	}
	at, kind, _ := mcpwire.Target(req.Message, req.Method)
	line := about(s.line(req.Method, audit.Allowed, n), kind, string(req.Text(at)), catalog.Target{})
	line.Server, line.Correlation = "toolman", s.correlation(req)
	return s.begin(req, line, ownRules, givenWith(req.Message, req.Method))
}

// decideAgainst audits a request that is refused.
func (s *Conn) decideAgainst(req *Request, why *Refusal, n uint64) {
	if s.Audit == nil || !audits(req.Method) {
		return
	}
	if at, _, _ := mcpwire.Target(req.Message, req.Method); req.Method == mcpwire.ToolsCall && slices.Contains(s.OwnNames, string(req.Text(at))) {
		s.DecideOwn(req, n).End(audit.Refused)
		return
	}
	verdict := audit.Verdict(why.Verdict)
	switch has := req.Decision; {
	case has != nil && (verdict == "" || has.Verdict() == audit.Declined):
		verdict = has.Verdict()
	case verdict == "":
		verdict = audit.Invalid
	}
	s.Decide(req, why.About, verdict, n).End(audit.Refused)
}

// DecideListen audits a resource that a subscription is to be about.
func (s *Conn) DecideListen(req *Request, uri string, t catalog.Target, verdict catalog.Verdict, taken bool) {
	if s.Audit == nil {
		return
	}
	line := about(s.line(mcpwire.Listen, verdict.Audited(), req.TraceID), mcpwire.Resource, uri, t)
	rule := s.rule(t.Entry)
	if uri == catalog.CatalogURI {
		line.Server, line.Verdict, rule = "toolman", audit.Allowed, ownRules
	}
	how := audit.Refused
	if taken {
		how = audit.OK
	}
	s.begin(req, line, rule, nil).End(how)
}

// Misfit audits a call of a tool that FindTool has found and that the session's Sender does
// not pass on: its arguments are not as the tool's inputSchema wants them. The arguments
// are copied.
func (s *Conn) Misfit(e *catalog.Entry, correlation string, arguments []byte) {
	if s.Audit == nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	line := about(s.line(mcpwire.ToolsCall, audit.Invalid, 0), mcpwire.Tool, e.Name, catalog.TargetOf(e))
	line.Correlation = correlation
	rule := func(audit.Verdict) string { return "its arguments are not as the tool's inputSchema wants them" }
	s.Audit.Begin(line, rule, time.Now(), arguments).End(audit.Refused)
}

// line is a line with what it says of the client.
func (s *Conn) line(method mcpwire.Method, verdict audit.Verdict, n uint64) audit.Line {
	line := audit.Line{Agent: s.Who.Agent, Client: s.Who.Name, Session: s.Label, Method: string(method), Verdict: verdict}
	if name := s.Peer.name.Load(); name != nil {
		line.Client = *name
	}
	if n > 0 {
		line.Call = "c" + strconv.FormatUint(n, 10)
	}
	return line
}

// about fills in what the request is about: what it asks for, and where that leads.
func about(line audit.Line, kind mcpwire.Kind, asked string, t catalog.Target) audit.Line {
	if asked != "" {
		line.Kind, line.Name = kind.String(), asked
	}
	if t.Source != nil {
		line.Server = t.Source.Name
	}
	if t.Entry != nil && t.URI == "" {
		line.Kind, line.Name = t.Entry.Item.Kind.String(), t.Entry.Name
	}
	return line
}

func ownRules(audit.Verdict) string { return OwnRule }

// rule tells later which rule has led to a verdict on an entry.
func (s *Conn) rule(e *catalog.Entry) audit.Rule {
	if e == nil {
		return nil
	}
	v := s.View.Load()
	return func(verdict audit.Verdict) string {
		switch verdict {
		case audit.Inactive:
			return v.Activity(e)
		case audit.Allowed, audit.Asked, audit.Confirmed, audit.Declined, audit.Unconfirmed:
			if e.Danger != nil {
				return v.Catalog.Rule(e) + "; " + e.Danger.String()
			}
		case audit.Busy:
			u := upstream.Of(e.Source)
			return fmt.Sprintf("max_concurrent_calls is %d (%s)", u.MaxCalls, u.MaxCallsAt)
		}
		return v.Catalog.Rule(e)
	}
}

func (s *Conn) begin(req *Request, line audit.Line, rule audit.Rule, arguments []byte) *audit.Decision {
	return s.Audit.Begin(line, rule, s.Clock.At(req.ArrivedAt), arguments)
}

// givenWith returns what a request is made with, if it is clear what that is.
func givenWith(m *jsonrpc.Message, method mcpwire.Method) []byte {
	key := "arguments"
	if method == mcpwire.Complete {
		key = "argument"
	}
	at, err := m.Param(key)
	if err != nil {
		return nil
	}
	return m.Bytes(at)
}

// OutcomeOf reads how a server has answered a call. Nobody asks that of a call that is
// not audited.
func OutcomeOf(c *upstream.Call, m *jsonrpc.Message) audit.Outcome {
	if c.Audited == nil {
		return ""
	}
	if c.Entry != nil && c.Entry.Source.Modern {
		if r, err := mcpwire.ResultOf(m); err == nil && r.ResultType(m) == mcpwire.ResultInputRequired {
			return audit.InputRequired
		}
	}
	status, _ := tracing.Outcome(m)
	return audit.Outcome(status) // the trace and the log have the same words
}
