package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin/discovery"
	"toolman/fixtures/authserver"
)

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
