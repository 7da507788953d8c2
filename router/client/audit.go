package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
)

// OwnRule is the rule in the audit log for toolman's own tools and resources.
const OwnRule = "it is toolman's own, and policies do not apply to it"

// audits reports whether requests of a method are in the audit log.
func audits(method mcpwire.Method) bool {
	return calls.Limited(method) || method == mcpwire.Subscribe || method == mcpwire.Unsubscribe || method == mcpwire.Listen
}

// BeginAudit begins the audit line of the request being handled. t is the target of its name and n
// its correlation number. If the request has a line already, BeginAudit changes its verdict. It
// returns nil if the request is not audited.
func (s *Conn) BeginAudit(req *Request, t catalog.Target, verdict audit.Verdict, n uint64) *audit.Decision {
	return s.beginAudit(req, t, verdict, "", n)
}

// beginAudit is BeginAudit with the rule that led to the verdict; "" is the one for the target.
func (s *Conn) beginAudit(req *Request, t catalog.Target, verdict audit.Verdict, rule string, n uint64) *audit.Decision {
	if s.Audit == nil || !audits(req.Method) {
		return nil
	}
	if d := req.Decision; d != nil {
		req.Decision = nil
		d.Decide(verdict)
		return d
	}
	at, kind, _ := mcpwire.Target(req.Message, req.Method)
	line := withTarget(s.auditLine(req.Method, verdict, n), kind, string(req.Text(at)), t)
	line.Correlation = s.correlation(req)
	of := s.rule(t.Entry)
	if rule != "" {
		of = func(audit.Verdict) string { return rule }
	}
	return s.begin(req, line, of, argumentsOf(req.Message, req.Method))
}

// BeginForwardedAudit is BeginAudit for a request that is passed on: the policy allows it, or a
// person has confirmed it.
func (s *Conn) BeginForwardedAudit(req *Request, t catalog.Target, n uint64) *audit.Decision {
	verdict := audit.Allowed
	if req.Decision != nil {
		verdict = audit.Confirmed
	}
	return s.BeginAudit(req, t, verdict, n)
}

// BeginOwnAudit is BeginAudit for toolman's own tools and resources.
func (s *Conn) BeginOwnAudit(req *Request, n uint64) *audit.Decision {
	if s.Audit == nil || !audits(req.Method) {
		return nil
	}
	at, kind, _ := mcpwire.Target(req.Message, req.Method)
	line := withTarget(s.auditLine(req.Method, audit.Allowed, n), kind, string(req.Text(at)), catalog.Target{})
	line.Server, line.Correlation = "toolman", s.correlation(req)
	return s.begin(req, line, ownRules, argumentsOf(req.Message, req.Method))
}

// auditRefusal audits a request that is refused.
func (s *Conn) auditRefusal(req *Request, why *Refusal, n uint64) {
	if s.Audit == nil || !audits(req.Method) {
		return
	}
	if at, _, _ := mcpwire.Target(req.Message, req.Method); req.Method == mcpwire.ToolsCall && slices.Contains(s.OwnNames, string(req.Text(at))) {
		s.BeginOwnAudit(req, n).Fail(audit.Refused, why.Text)
		return
	}
	verdict := audit.Verdict(why.Verdict)
	switch begun := req.Decision; {
	case begun != nil && (verdict == "" || begun.Verdict() == audit.Declined):
		verdict = begun.Verdict()
	case verdict == "":
		verdict = audit.Invalid
	}
	s.beginAudit(req, why.About, verdict, why.Rule, n).Fail(audit.Refused, why.Text)
}

// AuditListen audits a resource in a subscriptions/listen request. accepted says whether the
// subscription includes it.
func (s *Conn) AuditListen(req *Request, uri string, t catalog.Target, verdict catalog.Verdict, accepted bool) {
	if s.Audit == nil {
		return
	}
	line := withTarget(s.auditLine(mcpwire.Listen, verdict.Audited(), req.TraceID), mcpwire.Resource, uri, t)
	rule := s.rule(t.Entry)
	if uri == catalog.CatalogURI {
		line.Server, line.Verdict, rule = "toolman", audit.Allowed, ownRules
	}
	how := audit.Refused
	if accepted {
		how = audit.OK
	}
	s.begin(req, line, rule, nil).End(how)
}

// AuditMisfit audits a call that the bridge refuses because its arguments do not match the tool's
// inputSchema. It copies the arguments. Conn.Mu must not be held.
func (s *Conn) AuditMisfit(e *catalog.Entry, correlation string, arguments []byte) {
	if s.Audit == nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	line := withTarget(s.auditLine(mcpwire.ToolsCall, audit.Invalid, 0), mcpwire.Tool, e.Name, catalog.TargetOf(e))
	line.Correlation = correlation
	rule := func(audit.Verdict) string { return "its arguments do not match the tool's inputSchema" }
	s.Audit.Begin(line, rule, time.Now(), arguments).End(audit.Refused)
}

// auditLine returns a line with the fields that identify the client and the method.
func (s *Conn) auditLine(method mcpwire.Method, verdict audit.Verdict, n uint64) audit.Line {
	line := audit.Line{Agent: s.Info.Agent, Client: s.Info.Name, Session: s.Label, Method: string(method), Verdict: verdict}
	if name := s.Peer.name.Load(); name != nil {
		line.Client = *name
	}
	if n > 0 {
		line.Call = "c" + strconv.FormatUint(n, 10)
	}
	return line
}

// withTarget returns the line with the requested name and its target.
func withTarget(line audit.Line, kind mcpwire.Kind, asked string, t catalog.Target) audit.Line {
	if asked != "" {
		line.Kind, line.Name = kind.String(), asked
	}
	if t.Source != nil {
		line.Server = t.Source.Name
	}
	line.Program.Tool, line.Program.Asked = line.Name, asked
	if t.Entry != nil && t.URI == "" {
		line.Kind, line.Name, line.Program.Tool = t.Entry.Item.Kind.String(), t.Entry.Name, t.Entry.Item.Name
	}
	return line
}

// ownRules is the audit.Rule of toolman's own tools and resources.
func ownRules(audit.Verdict) string { return OwnRule }

// rule returns a function that names the rule that led to a verdict on an entry.
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

// ruleOf returns the rule behind a refusal, for the trace; "" if its text says all.
func (s *Conn) ruleOf(req *Request, why *Refusal) string {
	switch verdict := audit.Verdict(why.Verdict); {
	case why.Rule != "" || verdict == "":
		return why.Rule
	case verdict == audit.Ambiguous:
		return "several servers have it"
	case why.About.Entry != nil:
		return s.rule(why.About.Entry)(verdict)
	case verdict != audit.Unknown:
	case req.View != nil:
		if absent := req.View.Catalog.AbsentOwner(req.ItemKind, string(req.Name)); absent != nil {
			return "server " + absent.Source.Name + " is not available: " + absent.Why
		}
		return "no server offers it"
	}
	return ""
}

// begin writes the line to the audit log.
func (s *Conn) begin(req *Request, line audit.Line, rule audit.Rule, arguments []byte) *audit.Decision {
	if s.Audit.Recorded() {
		s.describe(&line.Program, req)
	}
	d := s.Audit.Begin(line, rule, s.Clock.At(req.ArrivedAt), arguments)
	if line.Kind == mcpwire.Tool.String() && line.Server != "" && s.Audit.Writes() {
		v := s.View.Load()
		d.InUse(func() []string { return view.ToolsetsOf(v, line.Name) })
	}
	return d
}

// describe says who has sent a request. A program without a name has that of its session.
func (s *Conn) describe(p *audit.Program, req *Request) {
	p.Principal, p.Modern = s.Info.Principal, req.Modern
	if at := req.Envelope.ClientInfo.Value; req.Modern && req.IsObject(at) {
		var info struct{ Name, Version string }
		json.Unmarshal(req.Bytes(at), &info) // of another form: without a name
		p.Name, p.Version = info.Name, info.Version
	} else if hello := s.Peer.Hello; hello != nil {
		p.Name, p.Version = hello.Name, hello.NameVersion
	}
	p.Name, p.Version = shown(p.Name), shown(p.Version)
	if p.Name == "" {
		p.Name = s.Info.Name
	}
}

// shown returns a text of the client for the log and the trace, cut to a length limit.
func shown(text string) string { return sanitize.Line(sanitize.First(text, catalog.NameLimit)) }

// argumentsOf returns the arguments of a request, nil if they are missing or ambiguous.
func argumentsOf(m *jsonrpc.Message, method mcpwire.Method) []byte {
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

// OutcomeOf returns the outcome of a call from its response, "" if the call is not audited.
func OutcomeOf(c *calls.Call, m *jsonrpc.Message) audit.Outcome {
	if c.Audited == nil {
		return ""
	}
	if c.Entry != nil && c.Entry.Source.Modern {
		if r, err := mcpwire.ResultOf(m); err == nil && r.ResultType(m) == mcpwire.ResultInputRequired {
			return audit.InputRequired
		}
	}
	status, _ := tracing.Outcome(m)
	return audit.Outcome(status) // the trace and the audit log use the same values
}
