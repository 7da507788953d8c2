//go:build linux || darwin

package debugsock

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/router/breakpoint"
)

// runtime makes a directory with a short path $XDG_RUNTIME_DIR, and returns that of sockets in it.
func runtime(t *testing.T) (dir string) {
	t.Helper()
	root, err := os.MkdirTemp("", "tm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	t.Setenv("XDG_RUNTIME_DIR", root)
	return filepath.Join(root, "toolman")
}

func listen(t *testing.T, run string) *Server {
	t.Helper()
	s, err := Listen(run, t.TempDir(), breakpoint.New(breakpoint.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// dial connects and returns the lines that come.
func dial(t *testing.T, path string) (*Conn, <-chan string) {
	t.Helper()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		c.Events(func(line []byte) { lines <- string(line) })
	}()
	if hello := <-lines; !strings.HasPrefix(hello, `{"event":"hello","v":1,`) {
		t.Errorf("the first line is %s", hello)
	}
	return c, lines
}

func TestCommands(t *testing.T) {
	runtime(t)
	c, lines := dial(t, listen(t, "run1").Path)
	for _, tt := range []struct{ command, want string }{
		{`{"seq":1,"do":"addRule","rule":{"filter":["tool:<x>"],"action":"hold"}}`, `{"event":"done","seq":1,"n":1}`},
		{`{"seq":2,"do":"addRule","rule":{"action":"x"}}`, `{"event":"refused","seq":2,"text":"action is \"hold\"`},
		{`{"seq":3,"do":"addRule"}`, `{"event":"refused","seq":3,"text":"addRule needs a rule"}`},
		{`{"seq":4,"do":"release","n":9}`, `{"event":"refused","seq":4,"text":"message 9 is not held any more"}`},
		{`{"seq":5,"do":"seed","seed":7}`, `{"event":"done","seq":5}`},
		{`{"seq":6,"do":"removeRule","n":1}`, `{"event":"done","seq":6}`},
		{`{"seq":7,"do":"fly"}`, `{"event":"refused","seq":7,"text":"there is no command \"fly\""}`},
		{`{"seq":8,"do":"releaseAll"}`, `{"event":"done","seq":8}`},
		{`hello`, `{"event":"refused","text":"not a command: `},
	} {
		if err := c.Send([]byte(tt.command)); err != nil {
			t.Fatal(err)
		}
		got := <-lines
		for strings.HasPrefix(got, `{"event":"rules"`) {
			got = <-lines
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.command, got, tt.want)
		}
	}
}

func TestStaleSocketsAreRemoved(t *testing.T) {
	dir := runtime(t)
	alive := listen(t, "alive")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "debug-dead.sock")})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // as in a process that was killed
	l.Close()
	next := listen(t, "next")
	if _, err := os.Stat(filepath.Join(dir, "debug-dead.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket of a dead process is there: %v", err)
	}
	dial(t, alive.Path)
	dial(t, next.Path)
	next.Close()
	if _, err := os.Stat(next.Path); !os.IsNotExist(err) {
		t.Errorf("the socket is there after Close: %v", err)
	}
}

func TestCheckAcceptsOnlyPrivateSockets(t *testing.T) {
	dir := runtime(t)
	s := listen(t, "run1")
	if err := Check(s.Path); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "debug-file.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, "/run/docker.sock", "toolman/debug-run1.sock", filepath.Join(dir, "debug-none.sock"), filepath.Join(dir, "other.sock")} {
		if Check(path) == nil {
			t.Errorf("%s is accepted", path)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if Check(s.Path) == nil {
		t.Error("a directory that others can read is accepted")
	}
	if again := listen(t, "run2"); Check(again.Path) != nil { // which makes it private again
		t.Error("the directory is not private")
	}
}

func TestAPathThatIsTooLong(t *testing.T) {
	runtime(t)
	root := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), strings.Repeat("x", 120))
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", root)
	if _, err := Listen("run", t.TempDir(), breakpoint.New(breakpoint.Options{})); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	runtime(t)
	s := listen(t, "run")
	for range maxConn {
		dial(t, s.Path)
	}
	c, err := Dial(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Events(func(line []byte) { t.Errorf("got %s", line) }) != nil {
		t.Error("not closed in good order")
	}
}
