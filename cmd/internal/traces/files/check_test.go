package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/files"
)

func TestCheck(t *testing.T) {
	const record = `{"t":"event","event":"ready"}` + "\n"
	for _, tt := range []struct {
		name, text string
		trace      bool
	}{
		{"a trace", record, true},
		{"after a line that was cut", "t\":1}\n" + record, true},
		{"that will be one", "", true},
		{"that is being written", record[:10], true},
		{"something else", "# a text\nin lines\n", false},
		{"other JSON lines", `{"a":1}` + "\n", false},
		{"much of something else", strings.Repeat("a line\n", 1000) + record, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := files.Check(path); (err == nil) != tt.trace {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := files.Check(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("a file that is not there yet: %v", err)
	}
}
