package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin/discovery"
	"toolman/fixtures/authserver"
	"toolman/mcpwire/streamhttp"
)

// A person logs in with a browser that does what a page says.
type person struct {
	*authserver.Server
	t      *testing.T
	folder logins.Folder
	flow   *Flow
	visit  func(at string) // what the browser does; nil: it visits the page

	mu      sync.Mutex
	said    []string // guarded by mu
	printed []string // guarded by mu
	secrets []string // guarded by mu
	pages   sync.WaitGroup
	page    string // that the browser saw in the end; read after pages
}

func newPerson(t *testing.T, o authserver.Options, change ...func(f *Flow)) *person {
	p := &person{Server: authserver.Start(t, o), t: t, folder: logins.At(t.TempDir() + "/logins")}
	p.again(change...)
	return p
}

// again makes the flow of another login.
func (p *person) again(change ...func(f *Flow)) *Flow {
	add := func(to *[]string) func(all ...string) {
		return func(all ...string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			*to = append(*to, all...)
		}
	}
	say := add(&p.said)
	p.flow = &Flow{
		Server: Server{Name: "remote", URL: p.URL}, File: p.folder.File(logins.Key{URL: p.URL, Account: "remote"}),
		Timeout: 30 * time.Second, Say: func(text string) { say(text) }, Secret: add(&p.secrets),
		Print: func(at string) {
			p.mu.Lock()
			p.printed = append(p.printed, at)
			p.mu.Unlock()
			if p.visit != nil {
				p.visit(at)
				return
			}
			p.pages.Go(func() {
				var err error
				if p.page, err = authserver.Visit(at); err != nil {
					p.page = err.Error()
				}
			})
		},
	}
	for _, c := range change {
		c(p.flow)
	}
	return p.flow
}

// login runs the flow.
func (p *person) login() (Outcome, error) {
	p.t.Helper()
	out, err := p.flow.Run(p.t.Context())
	p.pages.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.Join(p.said, "\n")
	if err != nil {
		text += "\n" + err.Error() + "\n" + cli.Hint(err)
		if cli.Hint(err) == "" {
			p.t.Errorf("the error does not say what to do: %v", err)
		}
	}
	for _, secret := range p.Secrets() {
		if strings.Contains(text, secret) {
			p.t.Errorf("the secret %s is said in:\n%s", secret, text)
		}
	}
	return out, err
}

func (p *person) record() *logins.Record {
	p.t.Helper()
	r, err := p.flow.File.Load()
	if err != nil {
		p.t.Fatal(err)
	}
	if r == nil {
		r = &logins.Record{}
	}
	return r
}

// loggedIn logs in and returns the login.
func (p *person) loggedIn() *logins.Record {
	p.t.Helper()
	out, err := p.login()
	if err != nil || out.State != LoggedIn {
		p.t.Fatalf("state %d, %v; %s\nsaid %q, printed %q, the page: %s", out.State, err, cli.Hint(err), p.said, p.printed, p.page)
	}
	r := p.record()
	if r.AccessToken == "" || !strings.Contains(p.page, "logged in") && p.visit == nil && !p.flow.Device {
		p.t.Errorf("the record is without a token, or the page says: %s", p.page)
	}
	return r
}

// refused logs in, which must fail with these words.
func (p *person) refused(words ...string) error {
	p.t.Helper()
	out, err := p.login()
	if err == nil {
		p.t.Fatalf("no error, state %d", out.State)
	}
	text := err.Error() + "; " + cli.Hint(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			p.t.Errorf("no %q in: %s", w, text)
		}
	}
	if p.record().HasTokens() {
		p.t.Error("the login failed, and there are tokens")
	}
	return err
}

func resource(text string) func(f *Flow) { return func(f *Flow) { f.Resource = &text } }

func client(id, secret string) func(f *Flow) {
	return func(f *Flow) { f.ClientID, f.ClientSecret = id, secret }
}

func redirect(uri string) func(f *Flow) { return func(f *Flow) { f.RedirectURI = uri } }

func TestLoginsToServersAsTheyAre(t *testing.T) {
	for name, tt := range map[string]struct {
		change []func(f *Flow)
		fails  []string // without change
	}{
		"default":    {},
		"github":     {[]func(f *Flow){client("Ov23app", "cs-github-secret")}, []string{"registers no clients", "client_id"}},
		"atlassian":  {[]func(f *Flow){func(f *Flow) { f.Issuer = "AS" }}, []string{"says in its metadata", "issuer"}},
		"atlassian2": {nil, []string{"does not register", "client_id"}},
		"google":     {[]func(f *Flow){client("app.apps.google", "cs-google-secret")}, []string{"registers no clients"}},
		"jumpcloud":  {},
		"entra": {[]func(f *Flow){client("00000000-app", ""), redirect("http://localhost/callback"), resource(""), func(f *Flow) { f.AssumePKCE = true }},
			[]string{"PKCE", "assume_pkce", "client_id"}},
		"cognito": {[]func(f *Flow){client("cognito-app", ""), redirect("http://localhost:8765/callback"), func(f *Flow) { f.AssumePKCE = true }}, []string{"assume_pkce"}},
		"figma":   {[]func(f *Flow){func(f *Flow) { f.ClientName = "Known Editor" }}, []string{"does not register", "403"}},
		"clickup": {nil, []string{"invalid_client_metadata: client is not allowed", "register an app"}},
		"slack":   {[]func(f *Flow){client("slack-app", "cs-slack-secret"), redirect("http://localhost:3118/callback")}, []string{"registers no clients"}},
		"vercel":  {}, "cloudflare": {}, "legacy": {}, "legacy0": {}, "page": {}, "scopes": {},
		"cimd": {[]func(f *Flow){client("https://toolman.example/client.json", "")}, []string{"registers no clients"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, ok := authserver.Presets()[name]
			if !ok {
				t.Fatal("there is no such preset")
			}
			if tt.fails != nil {
				newPerson(t, o).refused(tt.fails...)
			}
			if tt.fails == nil || tt.change != nil {
				p := newPerson(t, o, tt.change...)
				if p.flow.Issuer == "AS" {
					p.flow.Issuer = p.Server.Issuer()
				}
				r := p.loggedIn()
				if r.Issuer != p.Server.Issuer() || r.Client.ID == "" || r.Challenge != nil {
					t.Errorf("the record is %+v", r)
				}
				if out, err := p.login(); err != nil || out.State != LoggedIn { // no credential: again
					t.Errorf("the second login: %+v, %v", out, err)
				}
				if n := len(p.Requests("register")); n > 1 {
					t.Errorf("%d registrations", n)
				}
			}
		})
	}
}

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

func TestScopes(t *testing.T) {
	for name, tt := range map[string]struct {
		o      authserver.Options
		change func(f *Flow)
		record func(r *logins.Record)
		want   string
	}{
		"of the challenge":       {o: authserver.Options{Scopes: []string{"read"}, ScopesSupported: []string{"read", "write"}}, want: "read"},
		"of the metadata":        {o: authserver.Options{ScopesSupported: []string{"read", "write"}}, want: "read write"},
		"none":                   {},
		"configured":             {o: authserver.Options{Scopes: []string{"read"}}, change: func(f *Flow) { f.Scopes = []string{"mine"} }, want: "mine"},
		"requested":              {o: authserver.Options{Scopes: []string{"read"}}, change: func(f *Flow) { f.Scopes, f.Requested = []string{"mine"}, []string{"this"} }, want: "this"},
		"of a refusal":           {o: authserver.Options{Scopes: []string{"read"}}, record: func(r *logins.Record) { r.Asked = []string{"old"}; r.AddScopes([]string{"write"}, time.Now()) }, want: "read write old"},
		"configured and refused": {change: func(f *Flow) { f.Scopes = []string{"mine"} }, record: func(r *logins.Record) { r.Asked = []string{"old"}; r.AddScopes([]string{"write"}, time.Now()) }, want: "mine write old"},
		"offline":                {o: authserver.Options{Scopes: []string{"read"}, AllScopes: []string{offline}}, want: "read offline_access"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, tt.o)
			if tt.change != nil {
				tt.change(p.flow)
			}
			if tt.record != nil {
				if err := p.flow.File.Update(t.Context(), func(r *logins.Record) error { tt.record(r); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			r := p.loggedIn()
			if got := strings.Join(r.Asked, " "); got != tt.want || p.Requests("authorize")[0].Form.Get("scope") != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A held is the credential of a login that is there.
type held struct {
	token   string
	refused int
}

func (h *held) Authorize(_ context.Context, to http.Header) error {
	if h.token == "" {
		return errors.New("none")
	}
	to.Set("Authorization", "Bearer "+h.token)
	return nil
}

func (h *held) Refused(http.Header, *http.Response) streamhttp.Verdict {
	h.refused++
	return streamhttp.Verdict{}
}

func TestAGoodLoginIsKept(t *testing.T) {
	p := newPerson(t, authserver.Options{Scopes: []string{"read"}})
	r := p.loggedIn()
	p.Forget()
	good := &held{token: r.AccessToken}
	p.again(func(f *Flow) { f.Credential = good })
	out, err := p.login()
	if err != nil || out.State != Already || out.Record.AccessToken != r.AccessToken || len(p.Requests("authorize", "resource")) > 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	if out, err = p.flow.Look(t.Context()); err != nil || out.State != Already {
		t.Errorf("a look: %+v, %v", out, err)
	}
	p.again(func(f *Flow) { f.Credential, f.Requested = good, []string{"write"} })
	if r = p.loggedIn(); strings.Join(r.Asked, " ") != "write" {
		t.Errorf("asked for %q", r.Asked)
	}
	p.Revoke()
	p.again(func(f *Flow) { f.Credential = good })
	if out, err := p.flow.Look(t.Context()); err != nil || out.State != Wanted || good.refused != 1 {
		t.Errorf("a look: %+v, %v", out, err)
	}
	p.loggedIn()
}

func TestAServerThatWantsNoLogin(t *testing.T) {
	p := newPerson(t, authserver.Options{Open: []string{"initialize", "tools/list", "server/discover"}})
	out, err := p.login()
	if err != nil || out.State != NotWanted || len(p.printed) > 0 || len(p.Requests("resource")) > 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	err = p.flow.File.Update(t.Context(), func(r *logins.Record) error { r.AddScopes([]string{"write"}, time.Now()); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if r := p.loggedIn(); !slices.Contains(r.Asked, "write") || r.Challenge != nil { // a call was refused
		t.Errorf("got %+v", r)
	}
	p = newPerson(t, authserver.Options{Open: []string{"initialize", "server/discover"}})
	p.loggedIn()
	p.Server.Close()
	p.again()
	if out, err := p.login(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAnswersThatEndALogin(t *testing.T) {
	for name, tt := range map[string]struct {
		o     authserver.Options
		fails []string
	}{
		"denied":        {authserver.Options{Deny: true}, []string{"refuses the login: access_denied"}},
		"wrong iss":     {authserver.Options{Iss: "wrong"}, []string{"its iss is another one"}},
		"iss missing":   {authserver.Options{Iss: "missing"}, []string{"does not say that it is from"}},
		"iss slash":     {authserver.Options{Iss: "slash"}, []string{"its iss is another one"}},
		"no token":      {authserver.Options{Broken: map[string]authserver.Response{"token": {Body: "{}", Header: jsonType}}}, []string{"issues no token", "access_token"}},
		"HTML":          {authserver.Options{Broken: map[string]authserver.Response{"token": {Body: "<html>"}}}, []string{"not a JSON object"}},
		"500":           {authserver.Options{Broken: map[string]authserver.Response{"token": {Status: 500}}}, []string{"500", "try again later"}},
		"closed":        {authserver.Options{Broken: map[string]authserver.Response{"token": {Close: true}}}, []string{"closed the connection"}},
		"endless":       {authserver.Options{Broken: map[string]authserver.Response{"token": {Endless: true, Body: `{"x":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, Header: jsonType}}}, []string{"longer than"}},
		"DPoP":          {authserver.Options{Change: map[string]map[string]any{"token": {"token_type": "DPoP"}}}, []string{"DPoP"}},
		"mac":           {authserver.Options{Change: map[string]map[string]any{"token": {"token_type": "mac"}}}, []string{"mac"}},
		"huge token":    {authserver.Options{Change: map[string]map[string]any{"token": {"access_token": strings.Repeat("x", 64<<10)}}}, []string{"token"}},
		"negative life": {authserver.Options{Change: map[string]map[string]any{"token": {"expires_in": -5}}}, []string{"expires_in"}},
		"no client id":  {authserver.Options{Change: map[string]map[string]any{"register": {"client_id": nil}}}, []string{"no client_id", "register an app"}},
		"empty id":      {authserver.Options{Change: map[string]map[string]any{"register": {"client_id": ""}}}, []string{"no client_id"}},
		"odd method":    {authserver.Options{Change: map[string]map[string]any{"register": {"client_secret": "cs-odd", "token_endpoint_auth_method": "private_key_jwt"}}}, []string{"private_key_jwt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, tt.o)
			p.refused(tt.fails...)
			if len(p.printed) > 0 && !strings.Contains(p.page, "failed") {
				t.Errorf("the page says: %s", p.page)
			}
			p.Problems()
		})
	}
}

var jsonType = map[string]string{"Content-Type": "application/json"}

func TestATokenThatLivesAnyNumberOfSecondsIsTaken(t *testing.T) {
	for _, life := range []any{"3600", 1e300, 0, nil} {
		p := newPerson(t, authserver.Options{Change: map[string]map[string]any{"token": {"expires_in": life}}})
		if r := p.loggedIn(); (life == nil || life == 0) != r.Expiry.IsZero() {
			t.Errorf("%v: it ends %v", life, r.Expiry)
		}
	}
}

func TestALoginEndsWhenNobodyApprovesIt(t *testing.T) {
	p := newPerson(t, authserver.Options{}, func(f *Flow) { f.Timeout = 50 * time.Millisecond })
	p.visit = func(string) {}
	p.refused("nobody has approved the login", "--timeout")
	ctx, cancel := context.WithCancel(t.Context())
	p.visit = func(string) { cancel() }
	p.again()
	if _, err := p.flow.Run(ctx); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
}

func TestTheBrowserIsOpenedAfterTheURLIsPrinted(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	p.visit = func(string) {}
	p.flow.Open = func(at string) error {
		p.mu.Lock()
		said := strings.Join(p.said, "\n")
		p.mu.Unlock()
		if !strings.Contains(said, "waiting for the login in the browser") {
			t.Errorf("a browser that ends late is opened, and said is only %s", said)
		}
		_, err := authserver.Visit(at) // ends when the login is over
		return err
	}
	p.loggedIn()
	p = newPerson(t, authserver.Options{})
	p.visit = func(string) {}
	p.flow.Paste, _ = io.Pipe()
	p.flow.Open = func(at string) error {
		go authserver.Visit(at)
		return errors.New("no display")
	}
	p.loggedIn()
	if said := strings.Join(p.said, "\n"); len(p.printed) != 1 {
		t.Errorf("printed %q, said %s", p.printed, said)
	}
}

func TestThePastedURLIsTheAnswer(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	in, out := io.Pipe()
	p.flow.Paste = in
	p.visit = func(at string) {
		go func() {
			redirect, err := authserver.Follow(at)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(out, "\nnonsense\n%s\n%s\n", strings.Replace(redirect, "state=", "state=x", 1), redirect)
		}()
	}
	p.loggedIn()
	said := strings.Join(p.said, "\n")
	for _, want := range []string{"paste the URL", "not the whole URL", "another login"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
}

func TestTheURLForTheBrowser(t *testing.T) {
	f := &Flow{resource: "https://mcp.example/mcp", scopes: []string{"a", "b"}}
	c := &logins.Client{ID: "i d", RedirectURI: "http://127.0.0.1:1/callback"}
	for endpoint, want := range map[string]string{
		"https://as.example/authorize":                       "https://as.example/authorize?client_id=i+d",
		"https://as.example/authorize?tenant=x&state=theirs": "tenant=x",
		"http://localhost:1/authorize":                       "http://localhost:1/authorize?",
		"http://[::1]/authorize":                             "http://[::1]/authorize?",
		"http://as.example/authorize":                        "",
		"http://localhost.evil.test/authorize":               "",
		"https://user:pw@as.example/authorize":               "",
		"javascript:alert(1)":                                "",
		"file:///etc/passwd":                                 "",
		"-x":                                                 "",
		"--help":                                             "",
		"ms-msdt:/id":                                        "",
		"https://as.example/`id`":                            "https://as.example/%60id%60?",
		"https://as.example/\x01":                            "",
		"https:///authorize":                                 "",
		"https://as.exämple/authorize":                       "",
		"https://as.example/$(id)|calc|":                     "https://as.example/$%28id%29%7Ccalc%7C?",
	} {
		f.as = &discovery.Server{Authorization: endpoint}
		got, err := f.authorizationURL(c, "the-state", "the-challenge")
		if (err == nil) != (want != "") || !strings.Contains(got, want) && err == nil {
			t.Errorf("%s: %s, %v", endpoint, got, err)
		}
		if err != nil {
			if cli.Hint(err) == "" || strings.Contains(err.Error(), "the-state") {
				t.Errorf("%s: %v", endpoint, err)
			}
			continue
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{"state": "the-state", "scope": "a b", "resource": f.resource, "redirect_uri": c.RedirectURI, "client_id": c.ID, "code_challenge": "the-challenge", "code_challenge_method": "S256"} {
			if all := u.Query()[key]; len(all) != 1 || all[0] != value {
				t.Errorf("%s: %s is %q", endpoint, key, all)
			}
		}
	}
}

func TestADeviceLogin(t *testing.T) {
	o := authserver.Presets()["device"]
	p := newPerson(t, o, func(f *Flow) { f.Device = true })
	p.visit = func(string) {}
	r := p.loggedIn()
	if r.RedirectURI != "" || r.AccessToken == "" || len(p.Requests("poll")) != 2 {
		t.Errorf("got %+v after %d polls", r, len(p.Requests("poll")))
	}
	if !strings.Contains(strings.Join(p.said, "\n"), "enter the code") || len(p.printed) != 1 {
		t.Errorf("said %q, printed %q", p.said, p.printed)
	}
	newPerson(t, authserver.Options{}, func(f *Flow) { f.Device = true }).refused("no login by device code")
	for name, change := range map[string]map[string]any{
		"verification_uri": {"verification_uri": "javascript:alert(1)"}, "complete": {"verification_uri_complete": "http://evil.test/x"},
		"code": {"device_code": nil}, "interval": {"interval": "soon"},
	} {
		o := authserver.Presets()["device"]
		o.Change = map[string]map[string]any{"device": change}
		p := newPerson(t, o, func(f *Flow) { f.Device = true })
		p.visit = func(string) {}
		if err := p.refused("no code for a device", "--device"); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTokensAreRevoked(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	r := p.loggedIn()
	nobody := func(...string) {}
	if done, err := p.flow.Server.Revoke(t.Context(), r, nobody); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	all := p.Requests("revoke")
	if len(all) != 2 || all[0].Form.Get("token") != r.RefreshToken || all[1].Form.Get("token") != r.AccessToken || all[0].Form.Get("client_id") != r.Client.ID {
		t.Errorf("sent %v", all)
	}
	p.Change(func(o *authserver.Options) { o.Broken = map[string]authserver.Response{"revoke": {Status: 503}} })
	if done, err := p.flow.Server.Revoke(t.Context(), r, nobody); done || err == nil {
		t.Errorf("%v, %v", done, err)
	}
	r.RevocationEndpoint = ""
	if done, err := p.flow.Server.Revoke(t.Context(), r, nobody); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}
