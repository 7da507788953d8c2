package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
)

// A joining is toolman stdio under test.
type joining struct {
	t     *testing.T
	in    *os.File
	out   *bufio.Scanner
	log   *os.File
	ended chan int
}

func startJoined(t *testing.T, ctx context.Context, args ...string) *joining {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	j := &joining{t: t, in: in, out: bufio.NewScanner(out), log: log, ended: make(chan int, 1)}
	go func() {
		code := run(ctx, append([]string{"stdio"}, args...), theirIn, theirOut, log)
		theirOut.Close()
		j.ended <- code
	}()
	t.Cleanup(func() { in.Close(); out.Close(); log.Close() })
	return j
}

func (j *joining) send(lines ...string) {
	for _, line := range lines {
		io.WriteString(j.in, line+"\n")
	}
}

func (j *joining) want(line string) {
	j.t.Helper()
	if !j.out.Scan() || j.out.Text() != line {
		j.t.Fatalf("got  %s\nwant %s", j.out.Text(), line)
	}
}

// end closes standard input, and returns the exit code and the log.
func (j *joining) end() (int, string) {
	j.t.Helper()
	j.in.Close()
	return j.code()
}

func (j *joining) code() (int, string) {
	j.t.Helper()
	select {
	case code := <-j.ended:
		text, _ := os.ReadFile(j.log.Name())
		return code, string(text)
	case <-time.After(time.Minute):
		j.t.Fatal("it does not end")
		return 0, ""
	}
}

// echo answers every request with its method, and what it was authorized with.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(202)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"method":%q,"auth":%q}}`, m.ID, m.Method, r.Header.Get("Authorization"))
}

func TestStdioPassesOnAndEndsWhenItsClientDoes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	t.Setenv("TOOLMAN_TOKEN", "tm_very-secret")
	j := startJoined(t, t.Context(), "--connect", s.URL)
	j.send(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	j.want(`{"jsonrpc":"2.0","id":"a","result":{"method":"ping","auth":"Bearer tm_very-secret"}}`)
	j.send(`{"jsonrpc":"2.0","id":2,"method":`)
	j.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32700,"message":"not valid JSON at byte 34: expected a value"}}`)
	j.send(`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	j.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message: batches are not supported here, send one message a line"}}`)
	code, log := j.end()
	if code != cli.ExitOK || strings.Contains(log, "very-secret") {
		t.Errorf("exit code %d, the log is\n%s", code, log)
	}
}

// What is open when the input ends is answered, if that takes less than 3 s.
func TestStdioAnswersWhatIsOpenWhenItsClientEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	for range 20 { // a busy machine may need longer
		j := startJoined(t, t.Context(), "--connect", s.URL)
		began := time.Now()
		j.send(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
		code, log := j.end()
		if j.out.Scan() && j.out.Text() == `{"jsonrpc":"2.0","id":4,"result":{"method":"tools/list","auth":""}}` && code == cli.ExitOK {
			return
		}
		if time.Since(began) < 3*time.Second {
			t.Fatalf("got %q, exit code %d, the log is\n%s", j.out.Text(), code, log)
		}
	}
	t.Error("it is never answered")
}

func TestStdioTakesItsTokenFromAFile(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "token")
	for _, token := range []string{"one", "another"} { // it is read again
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		j := startJoined(t, t.Context(), "--connect", s.URL, "--token-file", path)
		j.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		j.want(`{"jsonrpc":"2.0","id":1,"result":{"method":"ping","auth":"Bearer ` + token + `"}}`)
		j.end()
	}
}

func TestStdioEndsWithASignal(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	j := startJoined(t, ctx, "--connect", s.URL)
	j.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	time.Sleep(50 * time.Millisecond)
	cancel()
	if code, log := j.code(); code != cli.ExitOK {
		t.Errorf("exit code %d, the log is\n%s", code, log)
	}
}

func TestStdioSaysWhatItNeeds(t *testing.T) {
	for args, want := range map[string]string{
		"":                        "write toolman stdio --connect URL",
		"--connect ftp://x/":      "does not start with http:// or https://",
		"--connect http://x y":    "takes no arguments",
		"--connect http://x/#tok": "fragment",
	} {
		var words []string
		if args != "" {
			words = strings.Fields(args)
		}
		j := startJoined(t, t.Context(), words...)
		if code, log := j.code(); code != cli.ExitUsage || !strings.Contains(log, want) {
			t.Errorf("%q: exit code %d, %s", args, code, log)
		}
	}
}
