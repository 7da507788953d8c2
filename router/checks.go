package router

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/view"
)

// checkLocked reports whether a request may go to its server now. If not, it was answered, or waits.
//
// These are all checks of a request that names an item. Before them stand those of the message
// (requestLocked, serveLocked); after them come only what the server's era cannot express (crossLocked)
// and the limit of calls at the server (Upstream.admit).
func (s *Session) checkLocked(req *client.Request) bool {
	for _, passes := range [...]func(*Session, *client.Request) bool{
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

func (s *Session) checkActive(req *client.Request) bool {
	if req.Verdict == catalog.Active {
		return true
	}
	s.Refuse(req, refuseName(req.View, req.ItemKind, string(req.Name), req.Target, req.Verdict, s.guidanceLocked(req.Modern)))
	return false
}

func (s *Session) checkCaller(req *client.Request) bool {
	if s.Front.Checker == nil || req.Method != mcpwire.ToolsCall {
		return true
	}
	why := s.Front.Checker.CheckCall(req.Message, req.Target.Entry)
	if why != nil {
		s.Decline(req, why)
	}
	return why == nil
}

func (s *Session) checkServer(req *client.Request) bool {
	why := s.servers.Without(req.Upstream)
	if why != nil {
		why.About = req.Target
		s.Refuse(req, *why)
	}
	return why == nil
}

func (s *Session) checkLogLevel(req *client.Request) bool {
	return s.logLevelRaisedLocked(req, req.Upstream)
}

func (s *Session) checkConfirmed(req *client.Request) bool {
	return s.input.Confirmed(req, req.Target)
}

func (s *Session) checkSubscription(req *client.Request) bool {
	err := s.subscriptions.Note(req.Method, req.Target, req.Name)
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error(), About: req.Target})
	}
	return err == nil
}

// refuseName is a refusal of a name that cannot be used.
func refuseName(v *view.View, k mcpwire.Kind, name string, t catalog.Target, verdict catalog.Verdict, has *metatool.Guidance) client.Refusal {
	return client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: verdict.String(), About: t, Text: has.Explain(v, k, name, t, verdict)}
}
