package router

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A route is what a request is about, and where that leads.
type route struct {
	at       jsonrpc.Span // of the name or URI
	name     []byte
	kind     mcpwire.Kind
	view     *view.View
	target   catalog.Target
	verdict  catalog.Verdict
	upstream *upstream.Upstream // of the target; nil: nothing has the name
}

// find looks the name up.
func (r *route) find() {
	if r.kind.IsURI() {
		r.target, r.verdict = r.view.FindURI(r.name)
	} else {
		r.target, r.verdict = r.view.Find(r.kind, r.name)
	}
}

// checkLocked reports whether a request may go to its server now. If not, it was answered, or waits.
//
// These are all checks of a request that names an item. Before them stand those of the message
// (requestLocked, serveLocked); after them come only what the server's era cannot express (crossLocked)
// and the limit of calls at the server (Upstream.admit).
func (s *Session) checkLocked(req *request) bool {
	for _, passes := range [...]func(*Session, *request) bool{
		(*Session).checkActive,       // policy, toolset limit, pin and activation, which the catalog and the view know
		(*Session).checkCaller,       // what the front knows of the call, such as headers that mirror it
		(*Session).checkServer,       // the session has the server
		(*Session).checkLogLevel,     // the server logs as much as the request wants
		(*Session).checkConfirmed,    // a person has agreed to a call of a dangerous tool
		(*Session).checkSubscription, // there is room for a subscription
	} {
		if !passes(s, req) {
			return false
		}
	}
	return true
}

func (s *Session) checkActive(req *request) bool {
	if req.verdict == catalog.Active {
		return true
	}
	s.refuse(req, refuseName(req.view, req.kind, string(req.name), req.target, req.verdict, s.guidanceLocked(req.modern)))
	return false
}

func (s *Session) checkCaller(req *request) bool {
	if s.front.checker == nil || req.method != mcpwire.ToolsCall {
		return true
	}
	why := s.front.checker.CheckCall(req.Message, req.target.Entry)
	if why != nil {
		s.decline(req, why)
	}
	return why == nil
}

func (s *Session) checkServer(req *request) bool {
	why := s.withoutLocked(req.upstream)
	if why != nil {
		why.about = req.target
		s.refuse(req, *why)
	}
	return why == nil
}

func (s *Session) checkLogLevel(req *request) bool { return s.logLevelRaisedLocked(req, req.upstream) }

func (s *Session) checkConfirmed(req *request) bool { return s.confirmedLocked(req, req.target) }

func (s *Session) checkSubscription(req *request) bool {
	err := s.noteSubscriptionLocked(req.method, req.target, req.name)
	if err != nil {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error(), about: req.target})
	}
	return err == nil
}
