package credential

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/fixtures/process"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

// An issuer is an authorization server that counts its tokens.
type issuer struct {
	*httptest.Server
	mu     sync.Mutex
	forms  []url.Values // guarded by mu
	answer func(n int, form url.Values) (status int, body string)
}

func newIssuer(t *testing.T, answer func(n int, form url.Values) (int, string)) *issuer {
	i := &issuer{answer: answer}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		if user, password, ok := r.BasicAuth(); ok {
			r.PostForm.Set("basic", user+":"+password)
		}
		i.mu.Lock()
		i.forms = append(i.forms, r.PostForm)
		n := len(i.forms)
		i.mu.Unlock()
		status, body := i.answer(n, r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) asked() []url.Values {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.forms
}

func issue(n int, _ url.Values) (int, string) {
	return 200, fmt.Sprintf(`{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, n)
}

// a credential as its user sees it.
type credential interface {
	Authorize(ctx context.Context, h http.Header) error
	Refused(h http.Header, resp *http.Response) endpoint.Verdict
}

// refused tells a credential of a response with 401.
func refused(c credential, h http.Header) bool {
	return c.Refused(h, &http.Response{StatusCode: http.StatusUnauthorized}).Again
}

// authorize returns the header that a credential sets.
func authorize(t *testing.T, c credential) http.Header {
	t.Helper()
	h := http.Header{}
	if err := c.Authorize(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	return h
}

func (i *issuer) of() OAuth {
	return OAuth{TokenURL: i.URL + "/token", ClientID: "me", ClientSecret: "my-secret", Scopes: []string{"a", "b"}, Resource: "https://mcp.example/mcp"}
}

func TestATokenIsAskedForOnceAndKeptUntilItIsRefused(t *testing.T) {
	i := newIssuer(t, issue)
	c := NewClientCredentials(i.of())
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if got := authorize(t, c).Get("Authorization"); got != "Bearer token-1" {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
	form := i.asked()[0]
	if form.Get("grant_type") != "client_credentials" || form.Get("scope") != "a b" || form.Get("resource") != "https://mcp.example/mcp" || form.Get("basic") != "me:my-secret" {
		t.Errorf("asked with %v", form)
	}
	old := authorize(t, c)
	if !refused(c, old) {
		t.Error("there is nothing better")
	}
	if got := authorize(t, c).Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("got %q", got)
	}
	refused(c, old) // somebody else's, late
	if got := authorize(t, c).Get("Authorization"); got != "Bearer token-2" || len(i.asked()) != 2 {
		t.Errorf("got %q, asked %d times", got, len(i.asked()))
	}
}

func TestTokensAreKnownAsSecretsBeforeTheyAreUsed(t *testing.T) {
	i := newIssuer(t, func(n int, form url.Values) (int, string) {
		return 200, fmt.Sprintf(`{"access_token":"token-%d","refresh_token":"refresh-%d","token_type":"Bearer","expires_in":3600}`, n, n)
	})
	of := i.of()
	var got []string
	of.Secret = func(tokens ...string) { got = append(got, tokens...) }
	authorize(t, NewClientCredentials(of))
	path := filepath.Join(t.TempDir(), "token.json")
	write(t, path, `{"access_token":"old","refresh_token":"refresh-0","expires_at":1000}`)
	authorize(t, NewTokenFile(path, of))
	if want := "token-1 refresh-1 old refresh-0 token-2 refresh-2"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestWhyThereIsNoTokenIsSaidWithoutSecrets(t *testing.T) {
	i := newIssuer(t, func(int, url.Values) (int, string) {
		return 401, `{"error":"invalid_client","error_description":"my-secret is wrong"}`
	})
	err := NewClientCredentials(i.of()).Authorize(t.Context(), http.Header{})
	if err == nil || !strings.Contains(err.Error(), "the authorization server at "+i.URL+" gives no token (invalid_client); check token_url") || strings.Contains(err.Error(), "my-secret") {
		t.Errorf("got %v", err)
	}
	gone := i.of()
	gone.TokenURL = "http://127.0.0.1:" + process.FreePort(t) + "/token"
	err = NewClientCredentials(gone).Authorize(t.Context(), http.Header{})
	if err == nil || !strings.Contains(err.Error(), "gives no token: connection refused") || strings.Contains(err.Error(), "/token") {
		t.Errorf("got %v", err)
	}
	slow := newIssuer(t, issue)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewClientCredentials(slow.of()).Authorize(ctx, http.Header{}); err == nil {
		t.Error("nobody waits any more, and there is a token")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestATokenFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	f := NewTokenFile(path, OAuth{})
	if err := f.Authorize(t.Context(), http.Header{}); err == nil || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("without a file: %v", err)
	}
	write(t, path, "first\n")
	h := authorize(t, f)
	if h.Get("Authorization") != "Bearer first" {
		t.Errorf("got %q", h)
	}
	if refused(f, h) {
		t.Error("the file has not changed, and there is said to be another token")
	}
	write(t, path, `{"access_token":"second","expiry":"2020-01-01T00:00:00Z"}`) // nothing better is known
	if !refused(f, h) {
		t.Error("the file has changed, and there is said to be no other token")
	}
	if got := authorize(t, f).Get("Authorization"); got != "Bearer second" {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"", "a b", "a\nb", "{", `{"access_token":1}`, `{"access_token":"sécret"}`} {
		write(t, path, bad+strings.Repeat(" ", 100+len(bad)))
		err := f.Authorize(t.Context(), http.Header{})
		if err == nil || bad != "" && strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestATokenFileIsRefreshedAndWrittenBack(t *testing.T) {
	i := newIssuer(t, func(n int, form url.Values) (int, string) {
		if form.Get("grant_type") != "refresh_token" || form.Get("refresh_token") != fmt.Sprintf("refresh-%d", n-1) {
			return 400, `{"error":"invalid_grant"}`
		}
		return 200, fmt.Sprintf(`{"access_token":"token-%d","token_type":"Bearer","refresh_token":"refresh-%d","expires_in":3600}`, n, n)
	})
	path := filepath.Join(t.TempDir(), "token.json")
	write(t, path, `{"access_token":"old","refresh_token":"refresh-0","expires_at":1000,"note":"mine"}`)
	f := NewTokenFile(path, i.of())
	h := authorize(t, f)
	if got := h.Get("Authorization"); got != "Bearer token-1" {
		t.Errorf("got %q", got)
	}
	var kept map[string]any
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept["access_token"] != "token-1" || kept["refresh_token"] != "refresh-1" || kept["note"] != "mine" || kept["expires_at"] != nil {
		t.Errorf("the file is %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file may be read by others: %v", info.Mode())
	}
	if got := authorize(t, f).Get("Authorization"); got != "Bearer token-1" || len(i.asked()) != 1 {
		t.Errorf("got %q, asked %d times", got, len(i.asked()))
	}
	if !refused(f, h) {
		t.Error("there is a refresh token, and there is said to be no other token")
	}
	if got := authorize(t, f).Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("got %q", got)
	}
}

func TestAnotherProgramMayHaveRefreshedTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token.json")
	i := newIssuer(t, func(int, url.Values) (int, string) {
		write(t, path, `{"access_token":"theirs","refresh_token":"new","expires_in":3600}`)
		return 400, `{"error":"invalid_grant"}`
	})
	write(t, path, `{"access_token":"old","refresh_token":"used","expires_at":1000}`)
	if got := authorize(t, NewTokenFile(path, i.of())).Get("Authorization"); got != "Bearer theirs" {
		t.Errorf("got %q", got)
	}
}

// A file may look as before and have another token.
func TestARefreshReadsAFileThatLooksAsBefore(t *testing.T) {
	i := newIssuer(t, issue)
	path := filepath.Join(t.TempDir(), "token.json")
	at := time.Now()
	put := func(token string) {
		write(t, path, `{"access_token":"`+token+`","refresh_token":"of-`+token+`"}`)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	put("first.")
	of := i.of()
	of.Lock = func(context.Context, string) (func(), error) { put("second"); return func() {}, nil }
	f := NewTokenFile(path, of)
	refused(f, authorize(t, f))
	if got := authorize(t, f).Get("Authorization"); got != "Bearer second" || len(i.asked()) != 0 {
		t.Errorf("got %q, asked %d times", got, len(i.asked()))
	}
}
