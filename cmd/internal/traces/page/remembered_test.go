package page

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"toolman/cmd/internal/traces/files"
	"toolman/fixtures/process"
)

// again starts to listen for some files as toolman trace open does.
func again(t *testing.T, port int, paths ...string) (net.Listener, address) {
	t.Helper()
	store, err := openAddresses()
	if err != nil {
		t.Fatal(err)
	}
	l, at, err := listen(port, paths, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, at
}

func freePort(t *testing.T) int {
	port, err := strconv.Atoi(process.FreePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func same(a, b address) bool { return a.Port == b.Port && a.Token == b.Token }

func TestTheAddressIsRemembered(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	first, a := again(t, freePort(t), "/a") // or others could get the port when nobody listens at it
	_, beside := again(t, 0, "/a")          // while the first one still runs
	if a.Port == beside.Port || a.Token == beside.Token {
		t.Errorf("two servers at once: %v and %v", a, beside)
	}
	other, b := again(t, freePort(t), "/a", "/b")
	if a.Port == b.Port || a.Token == b.Token {
		t.Errorf("servers of other files: %v and %v", a, b)
	}
	first.Close()
	other.Close()
	back, c := again(t, 0, "/a")
	if !same(a, c) {
		t.Errorf("started again: %v, want %v", c, a)
	}
	_, d := again(t, 0, "/a", "/b")
	if !same(b, d) {
		t.Errorf("started again: %v, want %v", d, b)
	}
	back.Close()
	_, e := again(t, a.Port, "/a") // the same port, given
	if !same(a, e) {
		t.Errorf("with --port: %v, want %v", e, a)
	}
	dir, _ := files.StateDir()
	if info, err := os.Stat(filepath.Join(dir, "viewer.json")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("viewer.json: %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("in the state directory: %q, %v", left, err)
	}
}

func TestStandardInputIsNotRemembered(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	l, a := again(t, 0, files.Stdin)
	l.Close()
	if _, b := again(t, 0, files.Stdin); a.Token == b.Token {
		t.Error("another standard input has the same address")
	}
}

func TestRememberedAddressesAreBounded(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for i := range maxRemembered + 3 {
		l, _ := again(t, 0, fmt.Sprint(i))
		l.Close()
	}
	store, _ := openAddresses()
	if n := len(store.read()); n != maxRemembered {
		t.Errorf("%d addresses are remembered, want %d", n, maxRemembered)
	}
	if store.of([]string{"0"}) != nil || store.of([]string{"18"}) == nil {
		t.Error("the latest ones should be remembered")
	}
}

func TestABadFileOfAddressesIsReplaced(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, _ := files.StateDir()
	os.MkdirAll(dir, 0o700)
	for _, text := range []string{"no JSON", `[{"files":["/a"],"port":70000,"token":"x"}]`, `[{"files":["/a"],"port":7000,"token":""}]`} {
		os.WriteFile(filepath.Join(dir, "viewer.json"), []byte(text), 0o600)
		if _, a := again(t, 0, "/a"); len(a.Token) < 20 || a.Port == 7000 {
			t.Errorf("%s: %v", text, a)
		}
	}
}
