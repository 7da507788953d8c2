//go:build unix

package logins

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

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
	gateway.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := syscall.Kill(-gateway.Process.Pid, syscall.SIGKILL); err != nil { // some clients kill the group
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
