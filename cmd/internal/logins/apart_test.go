package logins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolman/mcpwire/streamhttp"
)

// self is the path of this test binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// local returns a login that a program renews, or this process if program is "".
func local(f *File, program string, say func(text string), secret func(values ...string)) *Login {
	return NewLogin(f, Options{Server: "server linear", Command: "toolman login linear", Guard: Guard{Server: "http://127.0.0.1/mcp"},
		Secret: secret, Log: say, program: program})
}

// use is a toolman that sends a request.
func use(f *File) error {
	if err := guard(); err != nil {
		return err
	}
	return local(f, self(), nil, nil).Authorize(context.Background(), http.Header{})
}

// expired returns the change that makes a login whose token has expired.
func expired(as *httptest.Server, asked string) func(*Record) error {
	return func(r *Record) error {
		*r = Record{Key: r.Key, TokenEndpoint: as.URL, Client: Client{ID: "me", Secret: "my-secret", Method: "post"}, Asked: []string{asked},
			AccessToken: "old", RefreshToken: "refresh", Expiry: time.Now().Add(-time.Hour)}
		return nil
	}
}

func TestTheOutcomeOfAnotherProcessIsTheSame(t *testing.T) {
	long := strings.Repeat("y", 5000)
	for name, tt := range map[string]struct {
		status      int
		body, asked string
		token, said string
		fails       string
		wait        time.Duration
	}{
		"a token":                    {status: 200, body: `{"access_token":"new","refresh_token":"next","expires_in":3600}`, token: "new"},
		"a token, and nowhere to go": {status: 200, body: `{"access_token":"` + long + `"}`, asked: strings.Repeat("x", maxFile-2000), token: long, said: "cannot be saved"},
		"a login is wanted":          {status: 400, body: `{"error":"invalid_grant"}`, said: "run toolman login linear"},
		"later":                      {status: 503, fails: "try again later", wait: time.Minute},
		"never":                      {status: 400, body: `{"error":"invalid_target"}`, fails: "to log in anew"},
	} {
		t.Run(name, func(t *testing.T) {
			as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer as.Close()
			var outcomes []any
			for _, program := range []string{"", self()} {
				var said, secrets []string
				f := folder(t).File(linear)
				update(t, f, expired(as, tt.asked))
				l := local(f, program, func(text string) { said = append(said, text) }, func(values ...string) { secrets = append(secrets, values...) })
				h := http.Header{}
				err := l.Authorize(t.Context(), h)
				passing, _ := errors.AsType[*streamhttp.Passing](err)
				if got := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); got != tt.token || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) ||
					(passing != nil) != (tt.wait != 0) || passing != nil && passing.Wait != tt.wait || !strings.Contains(strings.Join(said, "\n"), tt.said) {
					t.Errorf("by %q: %.20s, %v, said %q", program, got, err, said)
				}
				if tt.token != "" && !strings.Contains(strings.Join(secrets, " "), tt.token) {
					t.Errorf("by %q: the token is no secret", program)
				}
				r, loadErr := f.Load()
				if loadErr != nil {
					t.Fatal(loadErr)
				}
				outcomes = append(outcomes, []any{fmt.Sprint(err), fmt.Sprint(len(said)), r.AccessToken, r.RefreshToken})
			}
			if !reflect.DeepEqual(outcomes[0], outcomes[1]) {
				t.Errorf("by this process\n%v, and by another one\n%v", outcomes[0], outcomes[1])
			}
		})
	}
}

// The authorization server has used up the old refresh token when toolman is killed.
func TestARenewalOutlivesAKilledProcess(t *testing.T) {
	asked, release := make(chan bool), make(chan bool)
	as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"new","refresh_token":"next","expires_in":3600}`)
	}))
	defer as.Close()
	dir := folder(t)
	f := dir.File(linear)
	update(t, f, expired(as, ""))
	gateway := program(t, useIn, dir)
	ownGroup(gateway)
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := killGroup(gateway); err != nil { // as some clients do
		t.Fatal(err)
	}
	_ = gateway.Wait() // it was killed
	close(release)
	update(t, f, func(r *Record) error { return nil }) // waits for the lock
	if r, err := f.Load(); err != nil || r.AccessToken != "new" || r.RefreshToken != "next" {
		t.Errorf("the file has %+v, %v", r, err)
	}
}

func TestWithoutAnotherProcessATokenIsRenewedByThisOne(t *testing.T) {
	as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"new","expires_in":3600}`)
	}))
	defer as.Close()
	var said []string
	f := folder(t).File(linear)
	update(t, f, expired(as, ""))
	if err := local(f, "/no/such/toolman", func(text string) { said = append(said, text) }, nil).Authorize(t.Context(), http.Header{}); err != nil || token(t, f) != "new" {
		t.Errorf("got %s, %v", token(t, f), err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "is renewed without a process of its own") {
		t.Errorf("said %q", said)
	}
}
