package logins

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire/streamhttp"
)

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
	if err != nil || !r.HasTokens() || len(mustRender(t, r)) > maxFile-room || r.Challenge.Scopes[0] != "0"+strings.Repeat("x", 5000) || len(r.Challenge.Scopes) < 100 {
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
