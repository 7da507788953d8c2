package demo

import (
	"os"
	"path/filepath"
	"strings"

	"toolman/cmd/internal/demo/demoserver"
)

// WriteConfig writes a tools.toml into dir that names the demo's servers, to be run by program, and returns its path.
func WriteConfig(dir, program string) (path string, err error) {
	path = filepath.Join(dir, "tools.toml")
	return path, os.WriteFile(path, []byte(configText(program)), 0o600)
}

// configText is what it holds.
func configText(program string) string {
	var b strings.Builder
	b.WriteString("active_toolsets = [\"notes_list\", \"notes_find\", \"notes_note*\"]  # on at start; the rest is off\n")
	for _, name := range demoserver.Names() {
		b.WriteString("[[servers]]\nnamespace = " + tomlString(name) + "\n")
		b.WriteString("command = " + tomlString(shellWord(program)+" __demo-server "+name) + "\n")
	}
	return b.String()
}

// shellWord quotes s if a shell would not take it as it is.
func shellWord(s string) string {
	harmless := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if strings.TrimFunc(s, harmless) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// tomlString writes a basic string of TOML.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
