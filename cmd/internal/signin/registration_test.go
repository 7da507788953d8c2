package signin

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/fixtures/authserver"
)

// A trouble ends a login before there are tokens.
type trouble struct {
	kind   string // of the request that fails; "": none does
	code   string // the error in its answer, or of the redirect if kind is "redirect"
	cancel error  // the user ends the login when the URL is shown
	device bool
	again  bool // the next login registers anew
}

// suffer has a login fail, and returns its error.
func (tr *trouble) suffer(p *person) error {
	p.again(func(f *Flow) { f.Device = tr.device })
	ctx, cancel := context.WithCancelCause(p.t.Context())
	defer cancel(nil)
	p.visit = nil
	switch {
	case tr.cancel != nil:
		p.visit = func(string) { cancel(tr.cancel) }
	case tr.kind == "redirect":
		p.visit = func(at string) { p.pages.Go(func() { p.redirect(at, tr.code) }) }
	case tr.kind == "":
		p.flow.Timeout = 50 * time.Millisecond
		p.visit = func(string) {}
	default:
		broken := authserver.Response{Status: 400, Header: jsonType, Body: `{"error":"` + tr.code + `"}`, Times: 1}
		p.Change(func(o *authserver.Options) { o.Broken = map[string]authserver.Response{tr.kind: broken} })
	}
	_, err := p.flow.Run(ctx)
	p.pages.Wait()
	if err == nil || cli.Hint(err) == "" {
		p.t.Errorf("the login ends with %v", err)
	}
	p.Change(func(o *authserver.Options) { o.Broken = nil })
	p.visit = nil
	p.again(func(f *Flow) { f.Device = tr.device })
	return err
}

// redirect is a browser that an authorization server sends back with an error.
func (p *person) redirect(at, code string) {
	u, err := url.Parse(at)
	if err != nil {
		p.t.Error(err)
		return
	}
	asked := u.Query()
	answer := url.Values{"error": {code}, "state": asked["state"], "iss": {p.Issuer()}}
	authserver.Visit(asked.Get("redirect_uri") + "?" + answer.Encode()) // the page says that the login failed
}

var interrupted = context.Canceled

func TestARegistrationSurvivesALoginThatIsNotCompleted(t *testing.T) {
	for name, tr := range map[string]trouble{
		"denied":                   {kind: "redirect", code: "access_denied"},
		"no such scope":            {kind: "redirect", code: "invalid_scope"},
		"interrupted":              {cancel: interrupted},
		"not approved in time":     {},
		"no token":                 {kind: "token", code: "invalid_grant"},
		"denied at a device":       {kind: "poll", code: "access_denied", device: true},
		"no code for a device":     {kind: "device", code: "invalid_scope", device: true},
		"interrupted at a device":  {cancel: interrupted, device: true},
		"may not log in":           {kind: "redirect", code: "unauthorized_client", again: true},
		"not known":                {kind: "token", code: "invalid_client", again: true},
		"not known for the device": {kind: "device", code: "invalid_client", device: true, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, authserver.Options{Device: true})
			tr.suffer(p)
			kept := p.record().Registered
			if (kept.ID != "") == tr.again {
				t.Errorf("the next login has the client %+v", kept)
			}
			r := p.loggedIn()
			if n := len(p.Requests("register")); (n == 2) != tr.again || !tr.again && r.Client != kept || r.Registered.ID != "" || r.ClientRefused {
				t.Errorf("%d registrations: %+v, then %+v", n, kept, r)
			}
		})
	}
}

// A page that nobody has answered may have said that the client is not known, which an authorization
// server cannot say otherwise. It does know a client that it has registered just now.
func TestAnOldRegistrationThatGotNoAnswerIsReplaced(t *testing.T) {
	for name, tr := range map[string]trouble{
		"interrupted":          {cancel: interrupted, again: true},
		"not approved in time": {again: true},
		"the URL is not used":  {cancel: ErrDeclined},
		"denied":               {kind: "redirect", code: "access_denied"},
		"at a device":          {cancel: interrupted, device: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, authserver.Options{Device: true})
			tr.suffer(p)
			if tr.again {
				tr.suffer(p)
			}
			p.loggedIn()
			tr.suffer(p)
			p.loggedIn()
			want := 1
			if tr.again {
				want = 3
			}
			if n := len(p.Requests("register")); n != want {
				t.Errorf("%d registrations, want %d", n, want)
			}
		})
	}
}

func TestALoginThatIsNotCompletedLeavesTheTokensAndTheirClient(t *testing.T) {
	p := newPerson(t, authserver.Options{Scopes: []string{"read"}})
	first := p.loggedIn()
	if err := p.flow.File.Update(t.Context(), func(r *logins.Record) error { r.AddScopes([]string{"write"}, time.Now()); return nil }); err != nil {
		t.Fatal(err)
	}
	(&trouble{kind: "redirect", code: "access_denied"}).suffer(p)
	r := p.record()
	if r.Client != first.Client || r.AccessToken != first.AccessToken || r.RefreshToken != first.RefreshToken || !slices.Equal(r.Asked, first.Asked) {
		t.Errorf("the login was %+v, and is %+v", first, r)
	}
	kept := r.Registered
	if kept.ID == "" || kept.ID == first.Client.ID || kept.Scope != "read write" {
		t.Errorf("the client for more scopes is %+v", kept)
	}
	if r = p.loggedIn(); r.Client != kept || len(p.Requests("register")) != 2 {
		t.Errorf("%d registrations; the client is %+v", len(p.Requests("register")), r.Client)
	}
}
