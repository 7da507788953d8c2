package choose

import (
	"strings"
	"testing"
	"time"

	"toolman/router/catalog"
)

// The globs of models mean what those of active_toolsets mean.
func TestGlobsMatchAsInActiveToolsets(t *testing.T) {
	names := []string{"fs_read", "fs_read_file", "fs_write", "git_a", "git_b", "git_d", "git_-", "a.b", "axb", "fs_file:///x/y", "fs_notes://{id}", "*", "fs_ä", "x]y", "x{y"}
	for _, text := range []string{"*", "fs_*", "fs_?ead", "fs_read*", "*_file", "git_[ab]", "git_[!ab]", "git_[a-c]", "fs_{read,write}", "fs_{read*,wr?te}", "{fs,git}_*", "a.b", "a?b",
		"fs_file:///*", "fs_notes://*", `\*`, "fs_?", "{fs_{read,write},git_a}", "*{", "[", "{a", "fs_[", "a,b*", "[!a", "x]*", `a\`} {
		match := globMatcher(text)
		g, err := catalog.CompileGlobs([]string{text})
		if !strings.ContainsAny(text, "*?[{") {
			if match != nil {
				t.Errorf("%q is taken for a glob", text)
			}
			continue
		}
		if (match == nil) != (err != nil) {
			t.Errorf("%q: is a glob: %v; error in active_toolsets: %v", text, match != nil, err)
			continue
		}
		for _, name := range names {
			if match != nil && match(name) != g[0].Match(name) {
				t.Errorf("%q matches %q: %v", text, name, match(name))
			}
		}
	}
}

func TestGlobsOfModelsAreMatchedInLinearTime(t *testing.T) {
	begun := time.Now()
	for _, text := range []string{strings.Repeat("*a", 128), strings.Repeat("{a,aa}", 42), strings.Repeat("{", 120) + strings.Repeat("}", 120)} {
		if match := globMatcher(text); match == nil || match(strings.Repeat("a", 64)+"b") {
			t.Errorf("%q: no glob, or a match", text)
		}
	}
	if globMatcher(strings.Repeat("*", maxGlob+1)) != nil {
		t.Error("a long one is taken")
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

func FuzzGlobs(f *testing.F) {
	f.Add("fs_{a,[b-c]*}?", "fs_bx")
	f.Fuzz(func(t *testing.T, text, name string) {
		if match := globMatcher(text); match != nil {
			match(name)
		}
	})
}
