package signin

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"toolman/fixtures/authserver"
)

// A person is not sent to a browser for a login that is lost in the end.
func TestALoginThatCouldNotBeSavedDoesNotBegin(t *testing.T) {
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("scope%d", i)
	}
	long := strings.Repeat("x", 64<<10)
	const tooLong = "too long to be kept"
	for name, tt := range map[string]struct {
		o      authserver.Options
		change func(p *person)
		says   string
	}{
		"too many scopes": {authserver.Options{ScopesSupported: many}, nil, tooLong},
		"a long endpoint": {authserver.Options{Change: map[string]map[string]any{"metadata": {"authorization_endpoint": "{{as}}/" + long}}}, nil, tooLong},
		"a long id":       {authserver.Options{Change: map[string]map[string]any{"register": {"client_id": long}}}, nil, tooLong},
		"a long secret":   {authserver.Options{Change: map[string]map[string]any{"register": {"client_secret": long}}}, nil, tooLong},
		"no folder": {authserver.Options{}, func(p *person) {
			if err := os.Symlink(p.folder.Path()+".none", p.folder.Path()); err != nil {
				p.t.Fatal(err)
			}
		}, "the folder of logins cannot be made"},
	} {
		for _, device := range []bool{false, true} {
			tt.o.Device = true
			p := newPerson(t, tt.o, func(f *Flow) { f.Device = device })
			if tt.change != nil {
				tt.change(p)
			}
			_, err := p.login()
			if err == nil || !strings.Contains(err.Error(), "the login could not be saved: ") || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 1000 {
				t.Errorf("%s: %.2000v", name, err)
			}
			if len(p.printed) > 0 || len(p.Requests("authorize", "device", "token", "poll")) > 0 {
				t.Errorf("%s: the login begins", name)
			}
		}
	}
}

// What the authorization server has issued is lost, and told nowhere.
func TestALoginThatCannotBeSavedInTheEndHasFailed(t *testing.T) {
	p := newPerson(t, authserver.Options{})
	p.visit = func(at string) {
		if err := os.RemoveAll(p.folder.Path()); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(p.folder.Path(), nil, 0o600); err != nil {
			t.Error(err)
		}
		p.pages.Go(func() {
			_, err := authserver.Visit(at)
			p.page = fmt.Sprint(err)
		})
	}
	_, err := p.login() // which looks for secrets in what is said
	if err == nil || !strings.Contains(err.Error(), "issued tokens, but the login failed: the folder of logins cannot be made") {
		t.Errorf("got %v", err)
	}
	if len(p.Requests("token")) != 1 || !strings.Contains(p.page, "The login failed") {
		t.Errorf("%d requests for tokens; the page: %s", len(p.Requests("token")), p.page)
	}
}
