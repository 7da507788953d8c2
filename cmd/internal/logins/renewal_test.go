package logins

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire/streamhttp"
)

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
