package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestTheLinkerLeavesOutWhatNobodyCalls: a program that looks a method up by a name known
// only at run time, as templates do, has to keep all exported methods of all its types,
// which makes toolman a seventh larger on disk and in memory.
func TestTheLinkerLeavesOutWhatNobodyCalls(t *testing.T) {
	link := exec.Command("go", "build", "-ldflags=-dumpdep", "-o", os.DevNull, ".")
	link.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := link.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%.2000s", err, out)
	}
	if !bytes.Contains(out, []byte("main.main -> ")) {
		t.Fatalf("not what calls what: %.2000s", out)
	}
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("<ReflectMethod>")) {
			t.Fatalf("calls methods by name: %s", line)
		}
	}
}
