package httpd

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A panic on the way of a request ends the process, and says where it came from.
func TestAPanicEndsTheProcess(t *testing.T) {
	if os.Getenv("TOOLMAN_TEST_PANIC") != "" {
		s := httptest.NewServer(EndOnPanic(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a lock is held") })))
		_, _ = http.Get(s.URL)
		return // it goes on: the parent sees that
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAPanicEndsTheProcess$")
	cmd.Env = append(os.Environ(), "TOOLMAN_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a lock is held") || !strings.Contains(string(out), "panic_test.go") {
		t.Errorf("it ended with %v and says %s", err, out)
	}
}

func TestAnAbortedHandlerEndsNothing(t *testing.T) {
	s := httptest.NewServer(EndOnPanic(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })))
	defer s.Close()
	if _, err := http.Get(s.URL); err == nil {
		t.Error("the request was answered")
	}
}
