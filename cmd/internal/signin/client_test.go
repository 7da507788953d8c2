package signin

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/fixtures/authserver"
	"toolman/fixtures/process"
)

func TestARegistrationIsOfANativeClientThatRefreshes(t *testing.T) {
	p := newPerson(t, authserver.Options{Scopes: []string{"read"}, AllScopes: []string{"read", offline}})
	r := p.loggedIn()
	got := p.Requests("register")[0]
	for _, want := range []string{`"application_type":"native"`, `"grant_types":["authorization_code","refresh_token"]`, `"redirect_uris":["` + r.RedirectURI + `"]`,
		`"response_types":["code"]`, `"token_endpoint_auth_method":"none"`, `"scope":"read offline_access"`, `"client_name":"toolman"`} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
	asked := p.Requests("authorize")[0].Form
	for key, want := range map[string]string{"response_type": "code", "resource": p.Resource(), "scope": "read offline_access", "code_challenge_method": "S256", "redirect_uri": r.RedirectURI, "prompt": "consent"} {
		if asked.Get(key) != want {
			t.Errorf("%s is %q", key, asked[key])
		}
	}
	if len(asked.Get("state")) < 43 || len(asked.Get("code_challenge")) != 43 {
		t.Errorf("state %q, challenge %q", asked.Get("state"), asked.Get("code_challenge"))
	}
	if token := p.Requests("token")[0].Form; token.Get("resource") != p.Resource() || len(token.Get("code_verifier")) < 43 {
		t.Errorf("the token request has %q", token)
	}
	if !slices.Contains(p.secrets, asked.Get("state")) || !slices.Contains(p.secrets, r.AccessToken) || !slices.Contains(p.secrets, r.RefreshToken) {
		t.Error("what is secret is not known as that")
	}
}

// As oidc-provider, to which the scopes of a resource are no scopes of a client.
func TestARegistrationIsRepeatedWithoutScopes(t *testing.T) {
	refusal := authserver.Response{Status: http.StatusBadRequest, Body: `{"error":"invalid_client_metadata","error_description":"unknown scope"}`, Times: 1}
	o := authserver.Options{Scopes: []string{"read"}, Broken: map[string]authserver.Response{"register": refusal}}
	p := newPerson(t, o)
	p.loggedIn()
	all := p.Requests("register")
	if len(all) != 2 || !strings.Contains(all[0].Body, `"scope":"read"`) || strings.Contains(all[1].Body, `"scope"`) {
		t.Errorf("the registrations: %+v", all)
	}
	if asked := p.Requests("authorize")[0].Form.Get("scope"); asked != "read" {
		t.Errorf("the login is for the scopes %q", asked)
	}
	refusal.Times = 2
	o.Broken["register"] = refusal
	newPerson(t, o).refused("does not register", "unknown scope")
	refusal.Body = `{"error":"invalid_redirect_uri"}`
	o.Broken["register"] = refusal
	p = newPerson(t, o)
	p.refused("invalid_redirect_uri")
	if n := len(p.Requests("register")); n != 1 {
		t.Errorf("%d registrations with a redirect URI that is refused", n)
	}
}

func TestClientsAuthenticateAsTheServerListsFirst(t *testing.T) {
	for _, tt := range []struct {
		methods []string
		secret  bool // of a configured client
		want    string
	}{
		{[]string{"client_secret_post", "client_secret_basic"}, true, "post"},
		{[]string{"private_key_jwt", "client_secret_basic"}, true, "basic"},
		{nil, true, "basic"},
		{[]string{"client_secret_basic", "none"}, false, "none"},
		{[]string{"client_secret_post"}, false, "post"},
		{[]string{"client_secret_basic"}, false, "basic"},
		{[]string{"client_secret_post", "client_secret_basic"}, false, "post"}, // the official Python SDK
		{[]string{"client_secret_basic", "client_secret_post"}, false, "basic"},
	} {
		o := authserver.Options{Methods: tt.methods}
		var change []func(f *Flow)
		if tt.secret {
			method := ""
			if tt.want == "post" {
				method = "client_secret_post"
			}
			o.AnyPort, o.Clients = true, []authserver.Client{{ID: "me", Secret: "cs-my-secret", Method: method, RedirectURIs: []string{"http://127.0.0.1/callback"}}}
			change = append(change, client("me", "cs-my-secret"))
		}
		if got := newPerson(t, o, change...).loggedIn().Client.Method; got != tt.want {
			t.Errorf("%v: %s", tt, got)
		}
	}
}

func TestAMetadataDocumentThatIsNotTakenLeavesTheRegistration(t *testing.T) {
	p := newPerson(t, authserver.Options{}, client("https://toolman.example/client.json", ""))
	first := p.loggedIn()
	if second := p.loggedIn(); second.Client != first.Client || len(p.Requests("register")) != 1 {
		t.Errorf("%d registrations: %+v, then %+v", len(p.Requests("register")), first.Client, second.Client)
	}
}

func TestAConfiguredClientBelongsToTheIssuerOfItsFirstLogin(t *testing.T) {
	o := authserver.Options{AnyPort: true, Clients: []authserver.Client{{ID: "me", Secret: "cs-my-secret", RedirectURIs: []string{"http://127.0.0.1/callback"}}}}
	p := newPerson(t, o, client("me", "cs-my-secret"))
	if r := p.loggedIn(); r.Bound != p.Issuer() {
		t.Fatalf("bound to %q", r.Bound)
	}
	first := p.Issuer()
	update := func(change func(r *logins.Record)) {
		if err := p.flow.File.Update(t.Context(), func(r *logins.Record) error { change(r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	update(func(r *logins.Record) {
		r.DropTokens()
		r.Issuer, r.Bound = "https://first.example", "https://first.example"
	})
	p.Forget()
	p.refused("https://first.example", first, "issuer")
	if n := len(p.Requests("token", "authorize")); n > 0 {
		t.Errorf("%d requests with the client", n)
	}
	p.again(client("me", "cs-my-secret"), func(f *Flow) { f.Issuer = first })
	if r := p.loggedIn(); r.Bound != first {
		t.Errorf("bound to %q", r.Bound)
	}
}

func TestARegistrationBelongsToItsIssuerAndPort(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	first := p.loggedIn()
	p.flow.old = first
	busy, err := p.flow.listen()
	if err != nil || busy.URI() != first.RedirectURI {
		t.Fatalf("the port of the registration: %v", err)
	}
	p.port = process.FreePort(t) // the next one that is free
	p.again()
	if r := p.loggedIn(); r.RedirectURI == first.RedirectURI || r.Client.ID == first.Client.ID {
		t.Errorf("the port is in use, and the client is %+v", r.Client)
	}
	busy.Close(false)
	for name, change := range map[string]func(r *logins.Record){
		"another issuer": func(r *logins.Record) { r.Client.Issuer = "https://old.example" },
		"refused":        func(r *logins.Record) { r.ClientRefused = true },
		"more scopes":    func(r *logins.Record) { r.AddScopes([]string{"more"}, time.Now()) },
	} {
		if err := p.flow.File.Update(t.Context(), func(r *logins.Record) error { change(r); return nil }); err != nil {
			t.Fatal(err)
		}
		p.Forget()
		p.again()
		if r := p.loggedIn(); len(p.Requests("register")) != 1 || r.Client.Issuer != p.Issuer() || r.ClientRefused {
			t.Errorf("%s: the client is %+v", name, r.Client)
		}
	}
}

func TestAClientThatTheServerForgotIsRegisteredAgain(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	p.loggedIn()
	p.Change(func(o *authserver.Options) {
		o.Broken = map[string]authserver.Response{"token": {Status: 401, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"error":"invalid_client"}`, Times: 1}}
	})
	if _, err := p.login(); err == nil || !strings.Contains(cli.Hint(err), "registers anew") {
		t.Fatalf("got %v", err)
	}
	p.Change(func(o *authserver.Options) { o.Broken = nil })
	p.again()
	p.loggedIn()
	if n := len(p.Requests("register")); n != 2 {
		t.Errorf("%d registrations", n)
	}
}
