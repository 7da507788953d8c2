package textdiff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"one line", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"no line end", "a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"line ends", "a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n",
			"@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+ten\n"},
	} {
		want := tt.want
		if want != "" {
			want = "--- old\n+++ new\n" + want
		}
		if got := Unified("old", "new", []byte(tt.before), []byte(tt.after)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
		}
	}
}

// The system's patch makes the new text of the old one.
func TestPatchAppliesTheDifference(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("SKIPPED here: there is no patch to apply differences with")
	}
	dir := t.TempDir()
	words := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range words.IntN(30) {
			fmt.Fprintf(&b, "%d\n", words.IntN(4))
		}
		return strings.TrimSuffix(b.String(), strings.Repeat("\n", words.IntN(2)))
	}
	for range 60 {
		before, after := text(), text()
		diff := Unified("f", "f", []byte(before), []byte(after))
		file, patch := filepath.Join(dir, "f"), filepath.Join(dir, "p")
		for path, text := range map[string]string{file: before, patch: diff} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("patch", "-s", "-i", patch, file).CombinedOutput(); diff != "" && err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		got, _ := os.ReadFile(file) // patch removes a file that it has emptied
		if string(got) != after {
			t.Fatalf("%q to %q: got %q by\n%s", before, after, got, diff)
		}
	}
}
