package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gatewayVar makes this test binary a gateway with that fault. How a good one does is tested where
// there is one, in cmd/toolman.
const gatewayVar = "TOOLMAN_TEST_GATEWAY"

func TestMain(m *testing.M) {
	if fault := os.Getenv(gatewayVar); fault != "" {
		os.Exit(faultyGateway(fault, os.Args[4]))
	}
	os.Exit(m.Run())
}

// faultyGateway answers the first request, as far as its fault allows, and traces that.
func faultyGateway(fault, tracePath string) int {
	fmt.Fprintln(os.Stderr, "this is the log of one that is", fault)
	if fault == "dead" {
		return 3
	}
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return 4
	}
	revision := map[bool]string{true: "1999-01-01", false: "2025-11-25"}[fault == "wrong"]
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":%q}}`, revision)
	if fault == "refusing" {
		msg = `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"not you"}}`
	}
	if fault != "silent" {
		if fault != "traceless" {
			trace := `{"v":1,"seq":1,"t":"frame","leg":"client","peer":"c","dir":"out","kind":"response","method":"initialize","id":1,"msg":` + msg + "}\n"
			if err := os.WriteFile(tracePath, []byte(trace), 0o600); err != nil {
				return 5
			}
		}
		fmt.Println(msg)
	}
	if fault == "leaving" {
		return 0
	}
	_, _ = io.Copy(io.Discard, in) // until the client is gone
	if fault == "stubborn" {
		time.Sleep(time.Hour)
	}
	return 0
}

func TestRunSaysWhatWentWrong(t *testing.T) {
	const short = 500 * time.Millisecond
	for _, tt := range []struct {
		fault string
		limit time.Duration
		want  []string // in the error
	}{
		{"dead", time.Minute, []string{"step 1: "}},
		{"wrong", time.Minute, []string{"step 1: ", `the revision is "1999-01-01"; want "2025-11-25"`}},
		{"refusing", time.Minute, []string{"step 1: ", `initialize was answered with the error "not you"`}},
		{"leaving", time.Minute, []string{"step "}},
		{"silent", short, []string{"step 1: ", "waiting for the answer to initialize", "not over within LIMIT"}},
		{"stubborn", short, []string{"step 2: ", "waiting for the answer to tools/list", "not over within LIMIT"}},
		{"traceless", short, []string{"step 1: ", "reading the trace", "not over within LIMIT"}},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Setenv(gatewayVar, tt.fault)
			wrong := runWrong(t, tt.limit, tt.fault, tt.want)
			for limit := tt.limit; wrong != "" && limit < time.Minute; { // the gateway may not be there yet on a busy machine
				limit *= 8
				wrong = runWrong(t, limit, tt.fault, tt.want)
			}
			if wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// runWrong runs the demo of a gateway with a fault, and returns what is wrong with its error, which
// has to say these words, or with what it shows.
func runWrong(t *testing.T, limit time.Duration, fault string, words []string) string {
	t.Helper()
	shown, err := runDemo(t, t.Context(), limit)
	if err == nil {
		return "no error; the screen shows\n" + shown
	}
	for _, want := range words {
		if want = strings.ReplaceAll(want, "LIMIT", limit.String()); !strings.Contains(err.Error(), want) {
			return fmt.Sprintf("the error %q does not say %q", err, want)
		}
	}
	if !strings.Contains(shown, "this is the log of one that is "+fault) || strings.Contains(shown, "as expected") {
		return "the screen should show the gateway's log and no success; it shows\n" + shown
	}
	return ""
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Setenv(gatewayVar, "silent")
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	if _, err := runDemo(t, ctx, time.Minute); !errors.Is(err, interrupted) {
		t.Errorf("got the error %v, want %v", err, interrupted)
	}
}

func TestRunNamesAProgramThatDoesNotStart(t *testing.T) {
	dir := tempDir(t)
	err := Run(t.Context(), Options{Program: filepath.Join(dir, "none"), Limit: time.Minute, Stdout: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "starting the gateway") {
		t.Errorf("got the error %v, want one about starting the gateway", err)
	}
	wantEmpty(t, dir)
}

// runDemo runs the demo of this binary, returns what it shows, and checks that it leaves no file
// behind.
func runDemo(t *testing.T, ctx context.Context, limit time.Duration) (shown string, err error) {
	t.Helper()
	dir := tempDir(t)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // built with -race, a gateway would end a second late
	var out bytes.Buffer
	err = Run(ctx, Options{Program: os.Args[0], Name: "toolman", Limit: limit, Stdout: &out})
	wantEmpty(t, dir)
	return out.String(), err
}

// tempDir makes the place for temporary files one of the test's own.
func tempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // the latter two on Windows
		t.Setenv(name, dir)
	}
	return dir
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
