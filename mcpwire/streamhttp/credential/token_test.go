package credential

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/fixtures/process"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

// refreshIn is a file that this test binary refreshes until the token is a certain one, as another
// program.
const refreshIn = "CREDENTIAL_TEST_REFRESH"

func TestMain(m *testing.M) {
	if path := os.Getenv(refreshIn); path != "" {
		f := NewTokenFile(path, OAuth{TokenURL: os.Getenv("CREDENTIAL_TEST_URL"), ClientID: "me", Lock: lockFile})
		for range rounds {
			h := http.Header{}
			if err := f.Authorize(context.Background(), h); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			refused(f, h)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const rounds = 20

// lockFile locks a file as programs that do not end in between can.
func lockFile(ctx context.Context, path string) (func(), error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return func() { os.Remove(path) }, nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// A server that accepts each refresh token once.
func TestProcessesDoNotUseARefreshTokenTwice(t *testing.T) {
	i := newIssuer(t, func(n int, form url.Values) (int, string) {
		if want := fmt.Sprintf("refresh-%d", n-1); form.Get("refresh_token") != want {
			t.Errorf("request %d has the refresh token %s", n, form.Get("refresh_token"))
			return 400, `{"error":"invalid_grant"}`
		}
		return 200, fmt.Sprintf(`{"access_token":"token-%d","token_type":"Bearer","refresh_token":"refresh-%d","expires_in":3600}`, n, n)
	})
	path := filepath.Join(t.TempDir(), "token.json")
	write(t, path, `{"access_token":"old","refresh_token":"refresh-0","expires_at":1000}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), refreshIn+"="+path, "CREDENTIAL_TEST_URL="+i.URL)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if n := len(i.asked()); n < rounds {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestARefreshHasResourceAndOneWayToNameTheClient(t *testing.T) {
	for _, tt := range []struct {
		name, method, secret string
		want                 string
	}{
		{"basic", Basic, "s &", "basic=me:s+%26 grant_type=refresh_token refresh_token=r resource=https://mcp.example/mcp"},
		{"post", Post, "s", "client_id=me client_secret=s grant_type=refresh_token refresh_token=r resource=https://mcp.example/mcp"},
		{"none", Public, "", "client_id=me grant_type=refresh_token refresh_token=r resource=https://mcp.example/mcp"},
		{"basic without a secret", Basic, "", "client_id=me grant_type=refresh_token refresh_token=r resource=https://mcp.example/mcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newIssuer(t, func(int, url.Values) (int, string) { return 401, `{"error":"invalid_client"}` })
			o := i.of()
			o.Method, o.ClientSecret = tt.method, tt.secret
			_, err := o.Refresh(t.Context(), "r")
			if r, ok := errors.AsType[*Refused](err); !ok || !r.InvalidClient() || r.Passing() {
				t.Errorf("got %v", err)
			}
			if all := i.asked(); len(all) != 1 || formOf(all[0]) != tt.want {
				t.Errorf("asked with\n%v, want\n%s", all, tt.want)
			}
		})
	}
}

// formOf returns a form as text.
func formOf(form url.Values) string {
	parts := strings.Split(form.Encode(), "&")
	for n, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		value, _ = url.QueryUnescape(value)
		parts[n] = key + "=" + value
	}
	return strings.Join(parts, " ")
}

func TestWhereTheMethodIsNotKnownItIsFoundOnce(t *testing.T) {
	i := newIssuer(t, func(n int, form url.Values) (int, string) {
		if form.Get("client_secret") == "" {
			return 401, `{"error":"invalid_client"}`
		}
		return 200, `{"access_token":"token","refresh_token":"next","token_type":"Bearer"}`
	})
	path := filepath.Join(t.TempDir(), "token.json")
	write(t, path, `{"access_token":"old","refresh_token":"r","expires_at":1000}`)
	f := NewTokenFile(path, i.of())
	h := authorize(t, f)
	refused(f, h)
	authorize(t, f)
	if all := i.asked(); len(all) != 3 || all[1].Get("client_secret") == "" || all[2].Get("client_secret") == "" || all[1].Get("resource") == "" || all[2].Get("refresh_token") != "next" {
		t.Errorf("asked with %v", all)
	}
	bad := newIssuer(t, func(int, url.Values) (int, string) { return 400, `{"error":"invalid_grant"}` })
	write(t, path, `{"access_token":"old","refresh_token":"r","expires_at":1000}`)
	if err := NewTokenFile(path, bad.of()).Authorize(t.Context(), http.Header{}); err == nil || len(bad.asked()) != 1 {
		t.Errorf("a refresh token that the server does not accept is sent %d times: %v", len(bad.asked()), err)
	}
}

func TestTokenResponses(t *testing.T) {
	const ok = `"access_token":"a","token_type":"bearer"`
	long := strings.Repeat("x", maxToken+1)
	for _, tt := range []struct {
		body    string
		says    string // why it cannot be used
		life    time.Duration
		refresh string
		scope   string
	}{
		{body: `{` + ok + `}`, refresh: "old"},
		{body: `{"access_token":"a"}`, refresh: "old"},
		{body: `{` + ok + `,"refresh_token":"new","scope":"x y","expires_in":60}`, refresh: "new", scope: "x y", life: time.Minute},
		{body: `{` + ok + `,"scope":"` + long + `"}`, refresh: "old"},
		{body: `{` + ok + `,"refresh_token":null,"expires_in":null}`, refresh: "old"},
		{body: `{` + ok + `,"expires_in":"60"}`, refresh: "old", life: time.Minute},
		{body: `{` + ok + `,"expires_in":59.9}`, refresh: "old", life: 59900 * time.Millisecond},
		{body: `{` + ok + `,"expires_in":0}`, refresh: "old"},
		{body: `{` + ok + `,"expires_in":1e999}`, refresh: "old", life: maxLifetime},
		{body: `{` + ok + `,"expires_in":99999999999999999999}`, refresh: "old", life: maxLifetime},
		{body: `{` + ok + `,"expires_in":-1}`, says: "expires_in is not a number"},
		{body: `{` + ok + `,"expires_in":"soon"}`, says: "expires_in is not a number"},
		{body: `{` + ok + `,"expires_in":{}}`, says: "expires_in is not a number"},
		{body: `{"access_token":"a","token_type":"DPoP"}`, says: `type "DPoP"`},
		{body: `{"access_token":"a","token_type":"mac"}`, says: `type "mac"`},
		{body: `{"token_type":"bearer"}`, says: "no access_token"},
		{body: `{"access_token":7}`, says: "no access_token"},
		{body: `{"access_token":"a b"}`, says: "not visible ASCII"},
		{body: `{"access_token":"a\r\nX-Evil: b"}`, says: "not visible ASCII"},
		{body: `{"access_token":"a","refresh_token":"é"}`, says: "not visible ASCII"},
		{body: `{"access_token":"` + long + `"}`, says: "more than 16384 bytes"},
		{body: `{"access_token":"a","access_token":"b"}`, says: "a key twice"},
		{body: `<html>`, says: "not a JSON object"},
		{body: `{"error":"bad_refresh_token"}`, says: "bad_refresh_token"},
	} {
		i := newIssuer(t, func(int, url.Values) (int, string) { return 200, tt.body })
		o := i.of()
		var secret []string
		o.Secret = func(tokens ...string) { secret = tokens }
		before := time.Now()
		token, err := o.Refresh(t.Context(), "old")
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), long) || IsPassing(err) {
				t.Errorf("%.80s: got %v, %v", tt.body, token, err)
			}
			continue
		}
		if err != nil || token.AccessToken != "a" || token.RefreshToken != tt.refresh || token.Extra("scope") != tt.scope || len(secret) != 2 || secret[0] != "a" {
			t.Errorf("%.80s: got %+v, %v, secret %q", tt.body, token, err, secret)
			continue
		}
		if life := token.Expiry.Sub(before); token.Expiry.IsZero() != (tt.life == 0) || tt.life > 0 && (life < tt.life-time.Second || life > tt.life+time.Minute) {
			t.Errorf("%.80s: it lives %s", tt.body, life)
		}
	}
}

func TestFailuresThatPass(t *testing.T) {
	for _, tt := range []struct {
		status                 int
		body                   string
		passing, grant, client bool
	}{
		{400, `{"error":"invalid_grant"}`, false, true, false},
		{400, `{"error":"invalid_client"}`, false, false, true},
		{401, ``, false, false, true},
		{401, `no`, false, false, true},
		{400, `{"error":"temporarily_unavailable"}`, true, false, false},
		{429, `slow down`, true, false, false},
		{503, `<html>`, true, false, false},
		{400, `{"error":"invalid_scope"}`, false, false, false},
	} {
		i := newIssuer(t, func(int, url.Values) (int, string) { return tt.status, tt.body })
		o := i.of()
		_, err := o.Refresh(t.Context(), "r")
		r, ok := errors.AsType[*Refused](err)
		if !ok || r.Passing() != tt.passing || IsPassing(err) != tt.passing || r.InvalidGrant() != tt.grant || r.InvalidClient() != tt.client {
			t.Errorf("%d %s: got %+v", tt.status, tt.body, err)
		}
	}
	o := OAuth{TokenURL: "http://127.0.0.1:" + process.FreePort(t)}
	if _, err := o.Refresh(t.Context(), "r"); !IsPassing(err) {
		t.Errorf("a network that fails: %v", err)
	}
}

func TestTheEndOfTheTokenInAFile(t *testing.T) {
	written := time.Unix(2_000_000_000, 0)
	for members, want := range map[string]time.Time{
		``:                     {},
		`,"expires_at":5`:      time.Unix(5, 0),
		`,"expires_at":"5"`:    time.Unix(5, 0),
		`,"expires_at":5.9`:    time.Unix(5, 0),
		`,"expires_at":1e300`:  time.Unix(maxTime, 0),
		`,"expires_at":"soon"`: {},
		`,"expires_at":null`:   {},
		`,"expires_in":60`:     written.Add(time.Minute),
		`,"expires_in":"60"`:   written.Add(time.Minute),
		`,"expires_in":1e300`:  written.Add(maxLifetime),
		`,"expires_in":-60`:    {},
		`,"expires_in":{}`:     {},
		`,"expires_in":0`:      {},
		`,"expiry":"2030-01-01T00:00:00Z","expires_in":60,"expires_at":5`: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		f := NewTokenFile("", OAuth{})
		if err := f.parse(`{"access_token":"a"`+members+`}`, written); err != nil || !f.token.Expiry.Equal(want) {
			t.Errorf("%s: %v, %v", members, f.token.Expiry, err)
		}
	}
}

func TestMargin(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		2 * time.Second: time.Second, 50 * time.Second: 25 * time.Second, time.Minute: 30 * time.Second, 2 * time.Minute: 30 * time.Second,
		10 * time.Minute: 2 * time.Minute, time.Hour: 5 * time.Minute, 24 * time.Hour: 5 * time.Minute,
	} {
		if got := Margin(life); got != want {
			t.Errorf("%s: %s, want %s", life, got, want)
		}
	}
}

// counting is an authorization server without a network.
type counting struct {
	n      int
	status int
	wait   time.Duration // before a response
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	select {
	case <-time.After(c.wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	rec := &http.Response{StatusCode: c.status, Header: http.Header{"Retry-After": {"7"}}, Request: r}
	rec.Body = http.NoBody
	if c.status == 200 {
		rec.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"access_token":"token-%d","expires_in":600}`, c.n)))
	}
	return rec, nil
}

func TestATokenIsRenewedBeforeItsEndAndKeptWhileItIsGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := &counting{status: 200}
		c := NewClientCredentials(OAuth{TokenURL: "https://as.example/token", HTTP: &http.Client{Transport: as}})
		step := func(after time.Duration, want string, requests int) {
			t.Helper()
			time.Sleep(after)
			h := http.Header{}
			err := c.Authorize(t.Context(), h)
			if got := h.Get("Authorization"); got != want || as.n != requests || (err != nil) != (want == "") {
				t.Errorf("got %q and %v, with %d requests; want %q with %d", got, err, as.n, want, requests)
			}
			if passing, ok := errors.AsType[*endpoint.Passing](err); err != nil && (!ok || passing.Wait != 7*time.Second) {
				t.Errorf("got %v", err)
			}
		}
		step(0, "Bearer token-1", 1)
		step(479*time.Second, "Bearer token-1", 1)
		as.status = 503
		step(2*time.Second, "Bearer token-1", 2) // a fifth of its life is left, and it is still good
		step(time.Second, "Bearer token-1", 2)
		step(renewPause, "Bearer token-1", 3)
		step(2*time.Minute, "", 4)
		as.status = 200
		step(0, "Bearer token-5", 5)
	})
}

func TestACallerThatGivesUpDoesNotEndTheRequestForAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := &counting{status: 200, wait: 10 * time.Second}
		c := NewClientCredentials(OAuth{TokenURL: "https://as.example/token", HTTP: &http.Client{Transport: as}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := c.Authorize(ctx, http.Header{}); err == nil || time.Since(start) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		h := http.Header{}
		if err := c.Authorize(t.Context(), h); err != nil || h.Get("Authorization") != "Bearer token-1" || as.n != 1 {
			t.Errorf("got %v, %v after %d requests", h, err, as.n)
		}
		as.wait = time.Hour
		refused(c, h)
		start = time.Now()
		if err := c.Authorize(t.Context(), http.Header{}); err == nil || time.Since(start) != requestTime || !strings.Contains(err.Error(), "did not respond in time") {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestAFileThatCannotBeLockedIsNotRefreshed(t *testing.T) {
	i := newIssuer(t, issue)
	path := filepath.Join(t.TempDir(), "token.json")
	write(t, path, `{"access_token":"old","refresh_token":"r","expires_at":1000}`)
	of := i.of()
	of.Lock = func(context.Context, string) (func(), error) { return nil, errors.New("read-only file system") }
	err := NewTokenFile(path, of).Authorize(t.Context(), http.Header{})
	if err == nil || !strings.Contains(err.Error(), "cannot be locked: read-only") || len(i.asked()) != 0 {
		t.Errorf("got %v after %d requests", err, len(i.asked()))
	}
}

// A refresh token must not be used when there is no place for the next one.
func TestAFileThatCannotBeWrittenIsNotRefreshed(t *testing.T) {
	i := newIssuer(t, issue)
	dir := t.TempDir()
	there, away, link := filepath.Join(dir, "there"), filepath.Join(dir, "away"), filepath.Join(dir, "token.json")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(there, "token.json"), `{"access_token":"old","refresh_token":"r","expires_at":1000}`)
	if err := os.Symlink(filepath.Join(there, "token.json"), link); err != nil {
		t.Skip("SKIPPED here: links cannot be made")
	}
	of := i.of()
	of.Lock = func(context.Context, string) (func(), error) { // and now the file can be read, and not replaced
		return func() {}, errors.Join(os.Rename(there, away), os.Remove(link), os.Symlink(filepath.Join(away, "token.json"), link))
	}
	err := NewTokenFile(link, of).Authorize(t.Context(), http.Header{})
	if err == nil || !strings.Contains(err.Error(), "it is not refreshed, because no new token could be saved: ") || len(i.asked()) != 0 {
		t.Errorf("got %v after %d requests", err, len(i.asked()))
	}
}

func TestA403IsNoReasonForAnotherToken(t *testing.T) {
	i := newIssuer(t, issue)
	c := NewClientCredentials(i.of())
	h := authorize(t, c)
	if v := c.Refused(h, &http.Response{StatusCode: http.StatusForbidden}); v != (endpoint.Verdict{}) {
		t.Errorf("got %+v", v)
	}
	if authorize(t, c); len(i.asked()) != 1 {
		t.Errorf("asked %d times", len(i.asked()))
	}
}
