package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/fixtures/testmain"
	"toolman/jsonrpc/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// asToolman makes this test binary toolman, and everything it starts, too; asNoGateway one that
// says nothing to clients.
const (
	asToolman   = "TEST_AS_TOOLMAN"
	asNoGateway = "TEST_AS_NO_GATEWAY"
)

func TestMain(m *testing.M) {
	if os.Getenv(asNoGateway) != "" && len(os.Args) > 1 && os.Args[1] == "--config" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	if os.Getenv(asToolman) != "" {
		main()
	}
	testmain.WithoutCache()
	os.Exit(m.Run())
}

// toolman is a command that runs toolman, with temporary files in a directory of its own.
func toolman(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer, dir string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, stderr = t.TempDir(), new(bytes.Buffer)
	cmd = exec.CommandContext(t.Context(), exe, args...)
	cmd.Args[0] = "toolman"
	cmd.Env = append(os.Environ(), asToolman+"=1", "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = stderr
	return cmd, stderr, dir
}

// converse sends lines to toolman, and ends its input when all the requests among them are answered:
// what is open at its end gets a few seconds, and a busy machine may need more for a server to start.
func converse(t *testing.T, cmd *exec.Cmd, lines string) (out []byte, err error) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(stdin, lines)
	in, open := bufio.NewReader(stdout), strings.Count(lines, `"id":`)
	for {
		line, err := in.ReadBytes('\n')
		out = append(out, line...)
		if bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) {
			open--
		}
		if open == 0 {
			stdin.Close()
		}
		if err != nil {
			return out, cmd.Wait()
		}
	}
}

func wantNoFiles(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestDemoShowsTheConversation(t *testing.T) {
	const golden = "testdata/demo.golden"
	cmd, stderr, dir := toolman(t, "demo")
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("toolman demo: %v\n%s\n%s", err, stderr, out)
	}
	wantNoFiles(t, dir)
	got := normal(string(out))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// normal replaces what is different each time: where the program is, and the ids that toolman makes
// up.
func normal(out string) string {
	out = regexp.MustCompile(`(?m)^    command = .*`).ReplaceAllString(out, "    command = …")
	return regexp.MustCompile(`(?m)^(  (?:notes|calc) +[<>] \{"id":)\d+`).ReplaceAllString(out, "${1}0")
}

func TestDemoKeepsItsTraceWhenAsked(t *testing.T) {
	cmd, stderr, dir := toolman(t, "demo", "--keep")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("toolman demo --keep: %v\n%s", err, stderr)
	}
	_, path, found := strings.Cut(strings.TrimSpace(string(out)), "  toolman trace ")
	if !found || filepath.Dir(filepath.Dir(path)) != dir {
		t.Fatalf("it does not say how to read a trace in %s:\n%s", dir, out)
	}
	cmd, stderr, _ = toolman(t, "trace", path, "status:ok", "tool:calc_add")
	out, err = cmd.Output()
	if err != nil || !strings.Contains(string(out), "demo -> calc") {
		t.Errorf("toolman trace %s: %v\n%s\n%s", path, err, stderr, out)
	}
}

// As with "toolman demo | head".
func TestAClosedOutputIsNoError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no EPIPE")
	}
	for _, args := range [][]string{{"demo"}, {"check", "--config", writeEmptyConfig(t)}} {
		t.Run(args[0], func(t *testing.T) {
			cmd, stderr, dir := toolman(t, args...)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stdout.Close()
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("it ended with %v and says %s", err, stderr)
			}
			wantNoFiles(t, dir)
		})
	}
}

// writeEmptyConfig writes a configuration without servers.
func writeEmptyConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.toml")
	if err := os.WriteFile(path, []byte("active_toolsets = []\nservers = []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDemoFailsWhenAStepDoes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGINT to send to one process")
	}
	cmd, stderr, dir := toolman(t, "demo")
	cmd.Env = append(cmd.Env, asNoGateway+"=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "1. ") {
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil { // or it would take its two minutes
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailed {
		t.Errorf("it ended with %v; want exit code %d", err, cli.ExitFailed)
	}
	if !strings.HasPrefix(stderr.String(), "toolman: error: step 1: waiting for the answer to initialize: ") || strings.Contains(string(rest), "expected") {
		t.Errorf("it says %q and shows %q", stderr, rest)
	}
	wantNoFiles(t, dir)
}

func TestDemoServes(t *testing.T) {
	tracePath := filepath.Join(t.TempDir(), "trace.jsonl")
	cmd, stderr, dir := toolman(t, "demo", "--serve", "--trace", tracePath)
	out, err := converse(t, cmd, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"notes_find","arguments":{"q":"friday"}}}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"notes_note://1"}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"calc_add","arguments":{"a":1,"b":2}}}
`)
	if err != nil {
		t.Fatalf("toolman demo --serve: %v\n%s", err, stderr)
	}
	wantNoFiles(t, dir)
	results := answers(t, out)
	for id, want := range map[int]string{
		1: `"serverInfo":{"name":"toolman"`,
		2: `"text":"3: Book a table for Friday"`,
		3: `"text":"1: Renew the passport (done)"`,
		4: `tool calc_add is not active`,
	} {
		if !strings.Contains(results[id], want) {
			t.Errorf("request %d was answered with %s; want %s in it", id, results[id], want)
		}
	}
	if n := traced(t, tracePath); n < len(results) {
		t.Errorf("the trace has %d answers; want at least %d", n, len(results))
	}
}

// answers are the result of every answer, by id.
func answers(t *testing.T, out []byte) map[int]string {
	t.Helper()
	results := map[int]string{}
	for line := range bytes.Lines(out) {
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if m.Method == "" {
			results[m.ID] = string(m.Result)
		}
	}
	return results
}

// traced counts a trace's answers to the client.
func traced(t *testing.T, path string) (n int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for r, err := range trace.Read(file) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Leg == trace.Client && r.Kind == trace.Response {
			n++
		}
	}
	return n
}

func TestDemoRefusesWhatItWouldNotObey(t *testing.T) {
	for _, args := range [][]string{
		{"demo", "--config", "tools.toml"},
		{"demo", "--serve", "--config", "tools.toml"},
		{"demo", "--trace", "t.jsonl"},
		{"demo", "--serve", "--keep"},
		{"demo", "notes"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			cmd, stderr, dir := toolman(t, args...)
			out, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitUsage || len(out) > 0 {
				t.Errorf("exit code %d (%v), %s%s; want %d and no output", code, err, out, stderr, cli.ExitUsage)
			}
			wantNoFiles(t, dir)
		})
	}
}

func TestDemoServerIsHiddenAndNamesItsServers(t *testing.T) {
	cmd, stderr, _ := toolman(t, "__demo-server", "nots")
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "there are notes and calc") {
		t.Errorf("%v, %s; want the names of the servers", err, stderr)
	}
	cmd, _, _ = toolman(t, "--help")
	if out, err := cmd.Output(); err != nil || strings.Contains(string(out), "__demo") || !strings.Contains(string(out), "\n  demo ") {
		t.Errorf("%v; help should list demo and not __demo-server:\n%s", err, out)
	}
}
