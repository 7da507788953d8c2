package logins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

func TestWithoutALoginRequestsHaveNoToken(t *testing.T) {
	dir := folder(t)
	u := newUser(dir, &issuer{})
	h := u.has(t, "")
	u.wants(t, false)
	v := u.refused(h, 401, bearer)
	if !v.Ended || v.Again || v.Text != "server linear needs a login (401 Unauthorized), which a person makes: run toolman login linear; nothing was carried out" {
		t.Errorf("got %+v", v)
	}
	u.wants(t, true)
	r, err := u.file.Load()
	if err != nil || r.HasTokens() || r.Challenge.Metadata != "https://mcp.linear.app/.well-known/x" || strings.Join(r.Challenge.Scopes, " ") != "read write" || r.Challenge.Error != "invalid_token" {
		t.Errorf("noted: %+v, %v", r, err)
	}
	before, _ := u.file.Load()
	u.refused(h, 401, bearer)
	if r, _ := u.file.Load(); !r.Challenge.At.Equal(before.Challenge.At) {
		t.Error("the same challenge is written again")
	}
	other := newUser(folder(t), &issuer{})
	v = other.refused(http.Header{}, 401, "Basic realm=x")
	if !v.Ended || !strings.Contains(v.Text, "headers, or") || !strings.Contains(v.Text, "toolman login linear") {
		t.Errorf("without a challenge of Bearer: %+v", v)
	}
	other = newUser(folder(t), &issuer{})
	if v = other.refused(http.Header{}, 403); v != (streamhttp.Verdict{}) {
		t.Errorf("403 without a challenge: %+v", v)
	}
	if v = other.refused(http.Header{}, 403, bearer); !v.Ended || !strings.Contains(v.Text, "toolman login linear") {
		t.Errorf("403 with a challenge: %+v", v)
	}
}

func TestWhatIsKnownIsNotWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(folder(t), &issuer{})
		u.refused(http.Header{}, 401, bearer)
		locked, release := make(chan bool), make(chan bool)
		go u.file.Update(t.Context(), func(*Record) error { close(locked); <-release; return nil })
		<-locked
		start := time.Now()
		u.refused(http.Header{}, 401, bearer)
		if waited := time.Since(start); waited != 0 || len(u.said) != 0 {
			t.Errorf("it waits %s for the lock, and says %q", waited, u.said)
		}
		u.refused(http.Header{}, 401, "Bearer")
		if waited := time.Since(start); waited != noteTime || len(u.said) != 1 || !strings.Contains(u.said[0], "is not kept") {
			t.Errorf("it waits %s for the lock, and says %q", waited, u.said)
		}
		u.wants(t, true)
		close(release)
	})
}

func TestALoginOfAnotherProcessIsUsedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := folder(t)
		i := &issuer{life: time.Hour}
		u := newUser(dir, i)
		u.refused(u.has(t, ""), 401, bearer)
		woken := make(chan time.Duration)
		go func() {
			start := time.Now()
			u.Wait(t.Context(), nil)
			woken <- time.Since(start)
		}()
		time.Sleep(5 * time.Second)
		update(t, dir.File(linear), func(r *Record) error { r.Challenge.Error = "other"; return nil })
		time.Sleep(5 * time.Second)
		u.wants(t, true)
		update(t, dir.File(linear), i.login)
		if waited := <-woken; waited > 12*time.Second {
			t.Errorf("it is noticed after %s", waited)
		}
		u.wants(t, false)
		u.has(t, "token-0")
		if err := dir.File(linear).Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookEvery)
		u.has(t, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		u.refused(http.Header{}, 401, bearer)
		if u.Wait(ctx, nil) {
			t.Error("nobody has logged in")
		}
		stopped := make(chan struct{})
		close(stopped)
		if u.Wait(t.Context(), stopped) {
			t.Error("the server is stopped")
		}
		update(t, dir.File(linear), i.login)
		u.look()
		u.wants(t, false)
	})
}

func TestATokenIsRenewedBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: 10 * time.Minute}
		u := loggedIn(t, folder(t), i)
		u.has(t, "token-0")
		time.Sleep(8*time.Minute - time.Second)
		u.has(t, "token-0")
		time.Sleep(2 * time.Second)
		u.has(t, "token-1")
		u.has(t, "token-1")
		if i.asked() != 1 {
			t.Errorf("asked %d times", i.asked())
		}
		const want = "client_id=me client_secret=my-secret grant_type=refresh_token refresh_token=refresh-0 resource=https://mcp.linear.app/mcp"
		if got, _ := url.QueryUnescape(strings.ReplaceAll(i.forms[0].Encode(), "&", " ")); got != want {
			t.Errorf("asked with\n%s, want\n%s", got, want)
		}
		r, err := u.file.Load()
		if err != nil || r.AccessToken != "token-1" || r.RefreshToken != "refresh-1" || time.Until(r.Expiry) != i.life || !r.Renewed.Equal(time.Now()) || r.Client.ID != "me" {
			t.Errorf("the file has %+v, %v", r, err)
		}
		for _, s := range []string{"token-0", "refresh-0", "my-secret", "token-1", "refresh-1"} {
			if !strings.Contains(strings.Join(u.secret, " "), s) {
				t.Errorf("%s is no secret", s)
			}
		}
		i.keep = true
		time.Sleep(9 * time.Minute)
		u.has(t, "token-2")
		if r, _ := u.file.Load(); r.RefreshToken != "refresh-1" {
			t.Errorf("without a new refresh token the file has %s", r.RefreshToken)
		}
		u.wants(t, false)
	})
}

func TestATokenIsRenewedOnceAfterA401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		u := loggedIn(t, folder(t), i)
		old := u.has(t, "token-0")
		time.Sleep(time.Hour)
		u.has(t, "token-0") // its end is not known
		if v := u.refused(old, 401, bearer); !v.Again || v.Ended {
			t.Errorf("got %+v", v)
		}
		next := u.has(t, "token-1")
		if v := u.refused(old, 401, bearer); !v.Again {
			t.Errorf("a request of before: %+v", v)
		}
		u.has(t, "token-1")
		if v := u.refused(next, 401, bearer); v.Again || !v.Ended {
			t.Errorf("a second 401: %+v", v)
		}
		u.wants(t, true)
		if r, err := u.file.Load(); err != nil || r.RefreshToken != "refresh-1" || i.asked() != 1 {
			t.Errorf("asked %d times; the file has %+v, %v", i.asked(), r, err)
		}
		i.n = 7
		update(t, u.file, i.login)
		time.Sleep(lookEvery)
		again := u.has(t, "token-7")
		time.Sleep(time.Hour)
		u.refused(again, 401, bearer)
		later := u.has(t, "token-8")
		time.Sleep(time.Hour)
		if v := u.refused(later, 401, bearer); !v.Again {
			t.Errorf("a token that has worked for an hour: %+v", v)
		}
		u.has(t, "token-9")
	})
}

func TestTheSameTokenAgainIsRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		u := loggedIn(t, folder(t), i)
		i.set(200, `{"access_token":"token-0","refresh_token":"refresh-1"}`)
		if v := u.refused(u.has(t, "token-0"), 401, bearer); !v.Again {
			t.Errorf("got %+v", v)
		}
		if v := u.refused(u.has(t, "token-0"), 401, bearer); v.Again || !v.Ended {
			t.Errorf("a second 401: %+v", v)
		}
		u.wants(t, true)
	})
}

func TestATokenWithoutARefreshTokenIsUsedToThe401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute}
		u := loggedIn(t, folder(t), i)
		update(t, u.file, func(r *Record) error { r.RefreshToken = ""; return nil })
		time.Sleep(time.Hour)
		h := u.has(t, "token-0")
		if v := u.refused(h, 401, bearer); v.Again || !v.Ended || i.asked() != 0 {
			t.Errorf("got %+v, asked %d times", v, i.asked())
		}
		u.wants(t, true)
	})
}

func TestOneTurnInAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute, wait: 5 * time.Second}
		u := loggedIn(t, folder(t), i)
		time.Sleep(time.Hour)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { u.has(t, "token-1") })
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := u.Authorize(ctx, http.Header{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that gives up: %v", err)
		}
		all.Wait()
		if i.asked() != 1 {
			t.Errorf("asked %d times", i.asked())
		}
	})
}

// The end of a caller does not end the request that may issue the only new refresh token.
func TestARenewalHasAContextOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute, wait: 5 * time.Second}
		u := loggedIn(t, folder(t), i)
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		u.Authorize(ctx, http.Header{})
		time.Sleep(10 * time.Second)
		u.has(t, "token-1")
		i.mu.Lock()
		i.wait = time.Hour
		i.mu.Unlock()
		time.Sleep(time.Minute)
		start := time.Now()
		err := u.Authorize(t.Context(), http.Header{})
		if _, ok := errors.AsType[*streamhttp.Passing](err); !ok || time.Since(start) != 20*time.Second || !strings.Contains(err.Error(), "https://as.example: the server did not respond in time") {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestSettleWaitsForARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute, wait: 5 * time.Second}
		u := loggedIn(t, folder(t), i)
		start := time.Now()
		u.Settle(t.Context())
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		u.Authorize(ctx, http.Header{})
		u.Settle(ctx) // gives up at once
		if waited := time.Since(start); waited != time.Hour+time.Second {
			t.Errorf("waited until %s", waited)
		}
		u.Settle(t.Context())
		if r, err := u.file.Load(); err != nil || r.AccessToken != "token-1" || time.Since(start) != time.Hour+5*time.Second {
			t.Errorf("after %s the file has %+v, %v", time.Since(start), r, err)
		}
	})
}

// Each process reads again when it has the lock, and takes what another one has got.
func TestTheTokenOfAnotherProcessIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := folder(t)
		i := &issuer{life: time.Minute, wait: time.Second}
		users := []*user{loggedIn(t, dir, i), newUser(dir, i), newUser(dir, i), newUser(dir, i)}
		for _, u := range users {
			u.has(t, "token-0")
		}
		time.Sleep(time.Hour)
		var all sync.WaitGroup
		for _, u := range users {
			all.Go(func() { u.has(t, "token-1") })
		}
		all.Wait()
		if i.asked() != 1 {
			t.Errorf("asked %d times", i.asked())
		}
		old := users[0].has(t, "token-1")
		users[0].refused(old, 401, bearer)
		users[0].has(t, "token-2")
		if v := users[1].refused(old, 401, bearer); !v.Again {
			t.Errorf("got %+v", v)
		}
		users[1].has(t, "token-2")
		if i.asked() != 2 {
			t.Errorf("asked %d times", i.asked())
		}
	})
}

func TestWhenTheAuthorizationServerGivesNoToken(t *testing.T) {
	const grant, client, other = `{"error":"invalid_grant"}`, `{"error":"invalid_client"}`, `{"error":"invalid_target","error_description":"no"}`
	for _, tt := range []struct {
		name   string
		age    time.Duration // of a token that lives ten minutes
		status int
		body   string
		token  string // of the next request
		fails  string // in place of it
		pass   bool
		kept   string // the refresh token in the file
		client bool   // it does not know the client
	}{
		{"invalid_grant", time.Hour, 400, grant, "", "", false, "", false},
		{"invalid_grant, and the token is still good", 9 * time.Minute, 400, grant, "token-0", "", false, "", false},
		{"invalid_client", time.Hour, 401, client, "", "", false, "", true},
		{"503, and the token is still good", 9 * time.Minute, 503, "", "token-0", "", false, "refresh-0", false},
		{"503", time.Hour, 503, "", "", "is not renewed by the authorization server at https://as.example: 503 Service Unavailable; try again later", true, "refresh-0", false},
		{"429, and the token is still good", 9 * time.Minute, 429, "", "token-0", "", false, "refresh-0", false},
		{"429", time.Hour, 429, "", "", "429 Too Many Requests; try again later", true, "refresh-0", false},
		{"a web page", time.Hour, 200, "<html>", "", "is not a JSON object; run toolman login linear", false, "refresh-0", false},
		{"another error, and the token is still good", 9 * time.Minute, 400, other, "token-0", "", false, "refresh-0", false},
		{"another error", time.Hour, 400, other, "", "invalid_target; run toolman login linear to log in anew", false, "refresh-0", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &issuer{life: 10 * time.Minute}
				u := loggedIn(t, folder(t), i)
				time.Sleep(tt.age)
				i.set(tt.status, tt.body)
				h := http.Header{}
				err := u.Authorize(t.Context(), h)
				passing, isPassing := errors.AsType[*streamhttp.Passing](err)
				if got := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); got != tt.token || (err == nil) != (tt.fails == "") || isPassing != tt.pass ||
					err != nil && !strings.Contains(err.Error(), tt.fails) || isPassing && passing.Wait != time.Minute {
					t.Errorf("got %q, %v", got, err)
				}
				r, err := u.file.Load()
				if err != nil || r.RefreshToken != tt.kept || r.ClientRefused != tt.client || r.Client.ID != "me" || len(r.Asked) != 1 || (r.AccessToken != "") != (tt.token != "" || tt.kept != "") {
					t.Errorf("the file has %+v, %v", r, err)
				}
				u.Authorize(t.Context(), h) // it is left alone for a while
				if i.asked() != 1 && !strings.Contains(tt.fails, "run toolman") {
					t.Errorf("asked %d times", i.asked())
				}
				if tt.kept != "" {
					time.Sleep(2 * time.Minute)
					i.set(0, "")
					u.has(t, "token-1")
				} else if tt.token == "" {
					if v := u.refused(http.Header{}, 401, bearer); !v.Ended {
						t.Errorf("got %+v", v)
					}
					u.wants(t, true)
				}
			})
		})
	}
}

func TestATokenThatCannotBeSavedIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute}
		u := loggedIn(t, folder(t), i)
		update(t, u.file, func(r *Record) error { r.Asked = []string{strings.Repeat("x", maxFile-2000)}; return nil })
		time.Sleep(time.Hour)
		next := strings.Repeat("y", 5000)
		i.set(200, `{"access_token":"`+next+`","refresh_token":"r","expires_in":3600}`)
		u.has(t, next)
		if len(u.said) != 1 || !strings.Contains(u.said[0], "was renewed and cannot be saved") || strings.Contains(u.said[0], next) {
			t.Errorf("said %q", u.said)
		}
		time.Sleep(time.Minute)
		u.has(t, next)
		if i.asked() != 1 {
			t.Errorf("asked %d times", i.asked())
		}
	})
}

func TestALateRefusalOfAnOlderTokenEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		u := loggedIn(t, folder(t), i)
		old := u.has(t, "token-0")
		update(t, u.file, func(r *Record) error { r.AccessToken, r.RefreshToken = "another", ""; return nil })
		if v := u.refused(old, 401, bearer); !v.Again || v.Ended {
			t.Errorf("got %+v", v)
		}
		u.has(t, "another")
		u.wants(t, false)
	})
}

func TestAClockThatIsWrongCostsOneRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Minute}
		u := loggedIn(t, folder(t), i)
		update(t, u.file, func(r *Record) error { r.Expiry = r.Expiry.Add(24 * time.Hour); return nil }) // the clock was set back
		time.Sleep(time.Hour)
		if v := u.refused(u.has(t, "token-0"), 401, bearer); !v.Again {
			t.Errorf("got %+v", v)
		}
		u.has(t, "token-1")
	})
}

func TestScopesThatAServerAsksForAreNotedForTheNextLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: time.Hour}
		u := loggedIn(t, folder(t), i)
		h := u.has(t, "token-0")
		v := u.refused(h, 403, `Bearer error="insufficient_scope", scope="read admin"`)
		if v.Again || v.Ended || v.Text != `server linear needs a login with more rights (403 Forbidden, scopes "read admin"), which a person makes: run toolman login linear; nothing was carried out` {
			t.Errorf("got %+v", v)
		}
		u.wants(t, true)
		u.refused(h, 403, `Bearer error="insufficient_scope", scope="files"`)
		if r, err := u.file.Load(); err != nil || strings.Join(r.Challenge.Scopes, " ") != "read admin files" || !r.HasTokens() {
			t.Errorf("noted: %+v, %v", r, err)
		}
		time.Sleep(59 * time.Minute)
		u.has(t, "token-1")
		u.wants(t, true) // a token that is renewed has no more rights
		update(t, u.file, func(r *Record) error {
			err := i.login(r)
			r.Asked = []string{"read", "admin", "files"}
			return err
		})
		time.Sleep(lookEvery)
		h = u.has(t, "token-1")
		u.look()
		u.wants(t, false)
		v = u.refused(h, 403, `Bearer error="insufficient_scope", scope="admin"`)
		if v.Again || v.Ended || strings.Contains(v.Text, "toolman login") || !strings.Contains(v.Text, `asks for the scopes "admin", which the last login has asked for already`) {
			t.Errorf("got %+v", v)
		}
		u.wants(t, false)
		if v = u.refused(h, 403, `Bearer error="insufficient_scope"`); strings.Contains(v.Text, "toolman login") || !strings.Contains(v.Text, "scopes of oauth") {
			t.Errorf("without scopes: %+v", v)
		}
		if v = u.refused(h, 403, bearer); v != (streamhttp.Verdict{}) {
			t.Errorf("403 for another reason: %+v", v)
		}
	})
}

// A server that asks for ever more scopes takes no place from the tokens.
func TestAServerThatAsksForScopesWithoutEndFillsNoFile(t *testing.T) {
	u := loggedIn(t, folder(t), &issuer{})
	h := u.has(t, "token-0")
	for n := range 100 {
		u.refused(h, 403, fmt.Sprintf(`Bearer error="insufficient_scope", scope="%d%s more%d"`, n, strings.Repeat("x", 5000), n))
	}
	r, err := u.file.Load()
	if err != nil || !r.HasTokens() || !r.HasRoom() || r.Challenge.Scopes[0] != "0"+strings.Repeat("x", 5000) || len(r.Challenge.Scopes) < 100 {
		t.Errorf("the file has %d scopes, %v, and is said: %.300q", len(r.Challenge.Scopes), err, u.said)
	}
}

func TestAFileThatCannotBeUsedIsSaid(t *testing.T) {
	dir := folder(t)
	u := loggedIn(t, dir, &issuer{})
	update(t, u.file, func(r *Record) error { r.AccessToken = "x"; return nil })
	if err := writeFile(u.file.Path(), `{"version":9}`); err != nil {
		t.Fatal(err)
	}
	if err := u.Authorize(t.Context(), http.Header{}); err == nil || !strings.Contains(err.Error(), "use a newer toolman, or remove the file and log in again, with toolman login linear") {
		t.Errorf("got %v", err)
	}
}
