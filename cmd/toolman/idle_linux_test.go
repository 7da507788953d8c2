package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/fixtures/mcptest"
)

// A toolman that waits needs 12 MB with three servers. Most of what its start has brought into
// memory is the program's own file, of which it keeps less than half.
func TestAToolmanThatWaitsNeedsLittleMemory(t *testing.T) {
	const most = 12_000_000 >> 10 // KB
	path, remove, err := mcptest.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	file := filepath.Join(t.TempDir(), "tools.toml")
	config := "active_toolsets = [\"*\"]\n"
	for _, name := range []string{"a", "b", "c"} {
		config += fmt.Sprintf("[[servers]]\nnamespace = %q\ncommand = \"'%s' __demo-server notes\"\n", name, path)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mcptest.Start(t, path, "--config", file)
	c.Call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := c.Call("tools/list", "").Names("tools", "name")
	_, started := memory(t, c.Pid())
	for until := time.Now().Add(mcptest.Patience); ; time.Sleep(50 * time.Millisecond) {
		all, program := memory(t, c.Pid())
		if all <= most && program < started/2 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%d KB, more than %d, or half of the %d KB of files that it started with: %d KB", all, most, started, program)
		}
	}
	if after := c.Call("tools/list", "").Names("tools", "name"); len(before) < 4 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("%q were listed before, %q after", before, after)
	}
}

// memory is how much memory a process needs, and how much of that are files, in KB.
func memory(t *testing.T, pid int) (all, files int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for key, kb := range map[string]*int{"VmRSS:": &all, "RssFile:": &files} {
		_, rest, _ := strings.Cut(string(status), "\n"+key)
		if _, err := fmt.Sscan(rest, kb); err != nil {
			t.Fatalf("no %s in %s", key, status)
		}
	}
	return all, files
}
