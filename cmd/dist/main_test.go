package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrepare(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	good := flags{out: filepath.Join(t.TempDir(), "new"), version: "1.2.3-rc.1", repository: noRepository}
	r, err := prepare(good)
	if err != nil || r.Version.String() != "1.2.3-rc.1" || r.Time.Unix() != 1790000000 || r.MCPName() != "io.github.OWNER/toolman" {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(r.Root, "go.mod")); err != nil {
		t.Error(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*flags){
		"is not empty":    func(f *flags) { f.out = full },
		"it must be like": func(f *flags) { f.repository = "https://example.com/x" },
		`version "latest`: func(f *flags) { f.version = "latest" },
	} {
		f := good
		change(&f)
		if _, err := prepare(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := prepare(good); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("%v", err)
	}
}

// TestEnvironment leaves out what changes the program.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOFLAGS", "-race")
	all := strings.Join(environment("GOOS=linux"), "\n")
	if strings.Contains(all, "GOAMD64=v3") || strings.Contains(all, "-race") || !strings.HasSuffix(all, "GOOS=linux") || !strings.Contains(all, "\nCGO_ENABLED=0\n") {
		t.Error(all)
	}
}
