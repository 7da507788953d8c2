package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/fixtures/mcptest"
	"toolman/fixtures/testmain"
)

// An idle toolman with three servers, built as make build does, needs at most 15 MiB.
func TestAToolmanThatWaitsNeedsLittleMemory(t *testing.T) {
	const most = 15 << 10 // KB
	t.Setenv("CGO_ENABLED", "0")
	path, remove, err := testmain.Build("-trimpath", "-ldflags=-s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	file := filepath.Join(t.TempDir(), "tools.toml")
	config := "active_toolsets = [\"*\"]\n"
	for _, name := range []string{"a", "b", "c"} {
		config += fmt.Sprintf("[[servers]]\nnamespace = %q\ncommand = \"'%s' __demo-server notes\"\nstart_timeout = \"60s\"\n", name, path)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// The kernel maps more or less of the file around each page that is used: the least counts.
	least := idle(t, path, file)
	for range 2 {
		least = min(least, idle(t, path, file))
	}
	if least > most {
		t.Errorf("%d KB, more than %d", least, most)
	}
}

// idle starts a toolman, and returns how much memory it needs once it has listed its tools, in KB.
func idle(t *testing.T, path, file string) int {
	t.Helper()
	c := mcptest.Start(t, path, "--config", file)
	c.Call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := c.Call("tools/list", "").Names("tools", "name")
	kb := memory(t, c.Pid())
	if after := c.Call("tools/list", "").Names("tools", "name"); len(before) < 4 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("%q were listed before, %q after", before, after)
	}
	return kb
}

// memory is how much memory a process needs, in KB.
func memory(t *testing.T, pid int) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nVmRSS:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("no VmRSS in %s", status)
	}
	return kb
}
