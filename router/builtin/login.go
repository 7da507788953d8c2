package builtin

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/metatool"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// loginPatience is how long a call waits for the end of a login whose URL the client has. Many
// clients give up after 30 or 60 seconds.
const loginPatience = 20 * time.Second

// loginKey is the key of the elicitation in inputRequests.
const loginKey = "login"

// byURL are the params that tell an elicitation in mode "url".
var byURL = []byte(`{"mode":"url"}`)

// An openLogin is a login that a call of toolman_login has begun.
type openLogin struct {
	dial.Attempt
	id       string // of the elicitation
	prompted bool   // the client has the URL
	followed bool   // the client will be notified of the end
}

// failed reports whether the login has ended without success.
func (l *openLogin) failed() bool {
	_, err := l.Outcome()
	return err != nil
}

// ended reports whether the login has ended.
func (l *openLogin) ended() bool {
	select {
	case <-l.Done():
		return true
	default:
		return false
	}
}

// canLogIn reports whether toolman_login is there for a request: its client can have the user open a
// URL, and on this machine, where the browser comes back to.
func (s *Items) canLogIn(req *client.Request) bool {
	if !s.Offers.Login || !s.Info.Sole {
		return false
	}
	if req.Modern {
		return inputreq.Lacks(req.Bytes(req.Envelope.Capabilities.Value), mcpwire.Elicit, byURL) == ""
	}
	return s.Peer.Hello != nil && s.Peer.Revision >= inputreq.AskedSince(mcpwire.Elicit, byURL) && inputreq.Lacks(s.Peer.Hello.Capabilities, mcpwire.Elicit, byURL) == ""
}

// login serves a call of toolman_login. The first one begins a login, and has the client show its
// URL. Further ones wait a while for the end of the login, and else show the URL again.
func (s *Items) login(req *client.Request) {
	name, err := metatool.LoginServer(req.Message)
	var u *upstream.Upstream
	if err == nil {
		u, err = s.loginServer(name)
	}
	if err != nil {
		s.refuseLogin(req, err.Error())
		return
	}
	refused, err := s.declined(req, u.Name)
	switch {
	case err != nil:
		s.DeclineError(req, err)
		return
	case refused:
		s.refuseLogin(req, fmt.Sprintf("the person at the client does not want to log in to server %s now. Go on without it, and do not ask again unless they want to", sanitize.Line(u.Name)))
		return
	}
	l := s.logins[u.Name]
	if l == nil || l.ended() && !l.failed() { // that one may be gone again
		l = &openLogin{Attempt: u.Login.Begin(s.Waiting.Context), id: rand.Text()}
		if s.logins == nil {
			s.logins = map[string]*openLogin{}
		}
		s.logins[u.Name] = l
	}
	waits := l.prompted
	s.Waiting.RunAside(req, func(ctx context.Context) client.Completion {
		if waits {
			l.await(ctx)
		}
		at, message := l.Ask(ctx)
		return func(req *client.Request) { s.answerLogin(req, u.Name, l, at, message) }
	})
}

// loginServer returns a server to log in to.
func (s *Items) loginServer(name string) (*upstream.Upstream, error) {
	var names []string
	for _, u := range s.All {
		switch {
		case !s.Knows(u):
		case !u.Source.HasName(name):
			names = append(names, u.Name)
		case u.Login == nil:
			return nil, fmt.Errorf("server %s takes no login: it is not at a url, or the configuration has its credentials; if it is not available, the catalog says why", sanitize.Line(u.Name))
		default:
			return u, nil
		}
	}
	return nil, fmt.Errorf("unknown server %s; there are %s", sanitize.Short(name), sanitize.Cut(strings.Join(names, ", "), 400))
}

// declined reports whether a request is a retry that says that the user does not want to log in. The
// login that it is about then ends.
func (s *Items) declined(req *client.Request, server string) (bool, error) {
	if !req.Modern {
		return false, nil
	}
	retry, err := inputreq.RetryOf(req.Message)
	if err != nil {
		return false, err
	}
	answer, err := retry.Response(req.Message, loginKey)
	if err != nil || !answer.Present() {
		return false, err
	}
	action, err := req.Get(answer, "action")
	if err != nil || string(req.Text(action)) == "accept" {
		return false, err
	}
	if l := s.logins[server]; l != nil && l.id == string(req.Text(retry.State.Value)) {
		l.Stop()
		delete(s.logins, server)
	}
	return true, nil
}

// await waits a while for the end of the login.
func (l *openLogin) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	select {
	case <-l.Done():
	case <-ctx.Done():
	}
}

// answerLogin answers a call of toolman_login with the outcome of the login, or has the client show
// the URL.
func (s *Items) answerLogin(req *client.Request, server string, l *openLogin, at, message string) {
	switch {
	case !l.ended() && at == "":
		s.refuseLogin(req, dial.ErrEnding.Error())
		return
	case !l.ended():
		s.prompt(req, l, at, message)
		return
	case s.logins[server] == l:
		delete(s.logins, server)
	}
	success, err := l.Outcome()
	if err != nil {
		s.refuseLogin(req, err.Error())
		return
	}
	result := mcpwire.AppendToolSuccess(req.Era(), nil, success, nil, false)
	s.sendLogin(req, audit.OK, result, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result))
}

// prompt has the client show the URL of a login: a modern one sends its request again with the
// user's answer, a legacy one when it hears that the login has ended, or before.
func (s *Items) prompt(req *client.Request, l *openLogin, at, message string) {
	l.prompted = true
	params := fmt.Appendf(nil, `{"mode":"url","url":%s,"message":%s}`, jsonrpc.AppendQuoted(nil, at), jsonrpc.AppendQuoted(nil, message))
	if req.Modern {
		asks := []inputreq.Ask{{Key: loginKey, Method: mcpwire.Elicit, Params: params}}
		s.sendLogin(req, audit.InputRequired, nil, inputreq.AppendInputRequired(nil, req.Bytes(req.ID), asks, l.id))
		return
	}
	why := mcpwire.Refusal{Code: mcpwire.CodeURLElicitation, Message: message, Data: fmt.Appendf(nil, `{"elicitations":[{"elicitationId":"%s",%s]}`, l.id, params[1:])}
	s.sendLogin(req, audit.InputRequired, nil, why.Append(nil, req.Bytes(req.ID)))
	if l.followed {
		return
	}
	l.followed = true
	go func() {
		<-l.Done() // at the latest when the router closes
		s.WithLock(func(out *peer.Outgoing) {
			frame := jsonrpc.AppendNotification(nil, string(mcpwire.ElicitationComplete), fmt.Appendf(nil, `{"elicitationId":"%s"}`, l.id))
			s.Send(out, frame, tracing.Note{Method: mcpwire.ElicitationComplete})
		})
	}()
}

// refuseLogin answers a call of toolman_login that has failed.
func (s *Items) refuseLogin(req *client.Request, why string) {
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: why})
}

// sendLogin sends the response to a call of toolman_login. result is the part that the audit log
// measures.
func (s *Items) sendLogin(req *client.Request, how audit.Outcome, result, response []byte) {
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	d := s.BeginOwnAudit(req, n)
	d.Replied(result)
	d.End(how)
	s.Send(req.Out, response, tracing.Note{ID: n, Method: mcpwire.ToolsCall, Status: "local"})
}
