package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheProgramIsLean holds what makes every toolman that waits in the background cost
// memory, and every start time, whatever it is used for.
func TestTheProgramIsLean(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolman.exe")
	calls := linked(t, path)

	// Who looks a method up by a name known only at run time, as templates do, makes the
	// linker keep all exported methods of all types: a seventh of the program.
	t.Run("the linker leaves out methods that nobody calls", func(t *testing.T) {
		for line := range bytes.Lines(calls) {
			if bytes.Contains(line, []byte("<ReflectMethod>")) {
				t.Fatalf("calls methods by name: %s", line)
			}
		}
	})

	t.Run("nothing much is prepared before it is used", func(t *testing.T) {
		const most = 128 << 10 // bytes that a package may allocate
		all := inits(t, path)
		if len(all) < 20 {
			t.Fatalf("only %d packages with an init were found", len(all))
		}
		for _, p := range all {
			if p.bytes > most {
				t.Errorf("initializing %s allocates %d bytes, more than %d", p.pkg, p.bytes, most)
			}
			// Code that runs at the start is in memory from then on, with 64 KiB of what is around
			// it.
			if strings.HasPrefix(p.pkg, "toolman/router/httpd") || strings.HasPrefix(p.pkg, "toolman/mcpwire/streamhttp") {
				t.Errorf("%s, which few need, has variables that are computed at each start", p.pkg)
			}
			if p.pkg == "html" || p.pkg == "runtime/metrics" {
				t.Errorf("%s is initialized at each start, and its callers did without it", p.pkg)
			}
		}
	})
}

// linked builds the program and returns what the linker says of who needs what.
func linked(t *testing.T, path string) []byte {
	t.Helper()
	link := exec.Command("go", "build", "-ldflags=-dumpdep", "-o", path, ".")
	link.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := link.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%.2000s", err, out)
	}
	if !bytes.Contains(out, []byte("main.main -> ")) {
		t.Fatalf("not what needs what: %.2000s", out)
	}
	return out
}

type initialized struct {
	pkg   string
	bytes int
}

// inits returns what the runtime says of the start of a program.
func inits(t *testing.T, path string) []initialized {
	t.Helper()
	version := exec.Command(path, "version")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := version.CombinedOutput()
	if err != nil {
		t.Fatalf("toolman version: %v\n%s", err, out)
	}
	var all []initialized
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs`).FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, initialized{string(m[1]), n})
	}
	return all
}
