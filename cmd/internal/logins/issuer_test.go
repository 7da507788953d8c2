package logins

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/mcpwire/streamhttp"
)

// An issuer is an authorization server without a network, which accepts each refresh token once.
type issuer struct {
	life time.Duration

	mu     sync.Mutex
	n      int           // guarded by mu: tokens that were issued
	forms  []url.Values  // guarded by mu
	wait   time.Duration // guarded by mu: before a response
	status int           // guarded by mu: of responses; 0: 200
	body   string        // guarded by mu: of responses with a status
	keep   bool          // guarded by mu: no new refresh tokens
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	text, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(text))
	if user, password, ok := r.BasicAuth(); ok {
		form.Set("basic", user+":"+password)
	}
	i.mu.Lock()
	i.forms = append(i.forms, form)
	wait := i.wait
	i.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Retry-After": {"60"}}, Request: r}
	body := ""
	switch {
	case i.status != 0:
		resp.StatusCode, body = i.status, i.body
	case form.Get("refresh_token") != fmt.Sprintf("refresh-%d", i.n) && !i.keep:
		resp.StatusCode, body = 400, `{"error":"invalid_grant"}`
	default:
		i.n++
		next := fmt.Sprintf(`,"refresh_token":"refresh-%d"`, i.n)
		if i.keep {
			next = ""
		}
		body = fmt.Sprintf(`{"access_token":"token-%d","token_type":"Bearer","expires_in":%d%s}`, i.n, i.life/time.Second, next)
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

func (i *issuer) asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.forms)
}

func (i *issuer) set(status int, body string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.status, i.body = status, body
}

// A user has a login, and what is said to them.
type user struct {
	*Login
	file   *File
	said   []string
	secret []string
}

// loggedIn returns a login with the token token-0, which lives as long as the issuer's.
func loggedIn(t *testing.T, dir Folder, i *issuer) *user {
	t.Helper()
	update(t, dir.File(linear), i.login)
	return newUser(dir, i)
}

// login is the change of a person who logs in.
func (i *issuer) login(r *Record) error {
	now := time.Now().UTC()
	*r = Record{Key: r.Key, TokenEndpoint: "https://as.example/token", Client: Client{ID: "me", Secret: "my-secret", Method: "post"}, Resource: "https://mcp.linear.app/mcp",
		Asked: []string{"read"}, AccessToken: fmt.Sprintf("token-%d", i.n), RefreshToken: fmt.Sprintf("refresh-%d", i.n), LoggedIn: now, Renewed: now}
	if i.life > 0 {
		r.Expiry = now.Add(i.life)
	}
	return nil
}

func newUser(dir Folder, i *issuer) *user {
	u := &user{file: dir.File(linear)}
	u.Login = NewLogin(u.file, Options{Server: "server linear", Command: "toolman login linear",
		client: func(context.Context) (*http.Client, error) { return &http.Client{Transport: i}, nil },
		Secret: func(values ...string) { u.secret = append(u.secret, values...) },
		Log:    func(text string) { u.said = append(u.said, text) }})
	return u
}

// has checks the token that requests get, "" for none, and returns the headers.
func (u *user) has(t *testing.T, token string) http.Header {
	t.Helper()
	h := http.Header{}
	if err := u.Authorize(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); got != token {
		t.Fatalf("a request has the token %q, want %q", got, token)
	}
	return h
}

// refused returns what follows from a response.
func (u *user) refused(h http.Header, status int, challenges ...string) streamhttp.Verdict {
	return u.Refused(h, &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": challenges}})
}

// look reads the file if it has changed.
func (u *user) look() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lookLocked(0)
}

// wants checks what a person is told to do.
func (u *user) wants(t *testing.T, login bool) {
	t.Helper()
	if got, _ := u.Wanted("the connection ended: run toolman login linear; nothing was carried out"); got != map[bool]string{true: "toolman login linear"}[login] {
		t.Fatalf("wanted: %q", got)
	}
	if got, _ := u.Wanted("the connection was refused"); got != "" {
		t.Fatalf("a login helps with a network that fails: %q", got)
	}
}

const bearer = `Bearer error="invalid_token", resource_metadata="https://mcp.linear.app/.well-known/x", scope="read write"`
