package signin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/fixtures/authserver"
	"toolman/fixtures/mcptest"
	"toolman/fixtures/process"
	"toolman/mcpwire/streamhttp"
)

// A person logs in with a browser that does what a page says.
type person struct {
	*authserver.Server
	t      *testing.T
	folder logins.Folder
	flow   *Flow
	port   string          // of the redirect URI: none that the system gives to others between two logins
	visit  func(at string) // what the browser does; nil: it visits the page

	mu      sync.Mutex
	said    []string // guarded by mu
	printed []string // guarded by mu
	secrets []string // guarded by mu
	pages   sync.WaitGroup
	page    string // that the browser saw in the end; read after pages
}

func newPerson(t *testing.T, o authserver.Options, change ...func(f *Flow)) *person {
	p := &person{Server: authserver.Start(t, o), t: t, folder: logins.At(t.TempDir() + "/logins"), port: process.FreePort(t)}
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
		anyPort: "http://127.0.0.1:" + p.port + "/callback",
		Timeout: mcptest.Patience, Say: func(text string) { say(text) }, Secret: add(&p.secrets),
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
		port   bool     // the server knows one redirect URI, with a port
	}{
		"default":    {},
		"github":     {[]func(f *Flow){client("Ov23app", "cs-github-secret")}, []string{"registers no clients", "client_id"}, false},
		"atlassian":  {[]func(f *Flow){func(f *Flow) { f.Issuer = "AS" }}, []string{"says in its metadata", "issuer"}, false},
		"atlassian2": {nil, []string{"does not register", "client_id"}, false},
		"google":     {[]func(f *Flow){client("app.apps.google", "cs-google-secret")}, []string{"registers no clients"}, false},
		"jumpcloud":  {},
		"entra": {[]func(f *Flow){client("00000000-app", ""), redirect("http://localhost/callback"), resource(""), func(f *Flow) { f.AssumePKCE = true }},
			[]string{"PKCE", "assume_pkce", "client_id"}, false},
		"cognito": {[]func(f *Flow){client("cognito-app", ""), func(f *Flow) { f.AssumePKCE = true }}, []string{"assume_pkce"}, true},
		"figma":   {[]func(f *Flow){func(f *Flow) { f.ClientName = "Known Editor" }}, []string{"does not register", "403"}, false},
		"clickup": {nil, []string{"invalid_client_metadata: client is not allowed", "register an app"}, false},
		"slack":   {[]func(f *Flow){client("slack-app", "cs-slack-secret")}, []string{"registers no clients"}, true},
		"vercel":  {}, "cloudflare": {}, "legacy": {}, "legacy0": {}, "page": {}, "scopes": {},
		"cimd": {[]func(f *Flow){client("https://toolman.example/client.json", "")}, []string{"registers no clients"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, ok := authserver.Presets()[name]
			if !ok {
				t.Fatal("there is no such preset")
			}
			if tt.port { // another program may have the one of the preset
				uri := "http://localhost:" + process.FreePort(t) + "/callback"
				o.Clients[0].RedirectURIs, tt.change = []string{uri}, append(tt.change, redirect(uri))
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
