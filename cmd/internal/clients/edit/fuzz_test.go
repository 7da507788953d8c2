package edit

import (
	"slices"
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

// fuzz adds an entry to any text and takes it out again. What was added has to be all that differs,
// which Set checks, and the text has to be the same afterwards.
func fuzz(f *testing.F, spot Spot, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")))
		f.Add([]byte("\xef\xbb\xbf" + s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, found, p := spot.Get(text, "toolman"); p != nil || found {
			return
		}
		with, mark, p := spot.Set(text, "toolman", entry())
		if p != nil {
			return
		}
		members, found, p := spot.Get(with, "toolman")
		if p != nil || !found || !sameMembers(slices.DeleteFunc(members, func(m source.Member) bool { return spot.List && m.Key == "name" }), entry()) {
			t.Fatalf("the entry is not there: %v\n%q", p, with)
		}
		if again, _, p := spot.Set(with, "toolman", entry()); p != nil || string(again) != string(with) {
			t.Fatalf("added again: %v\n%q", p, again)
		}
		back, _, p := spot.Remove(with, "toolman", mark)
		if p != nil {
			t.Fatalf("cannot be removed: %v\n%q", p, with)
		}
		if string(back) != string(text) && !(spot.Create != "" && len(strings.TrimSpace(string(text))) == 0) {
			t.Fatalf("removed:\n%q\nwant\n%q\nof\n%q", back, text, with)
		}
		// Without the mark, the values are the same, and the layout need not be.
		if _, _, p := spot.Remove(with, "toolman", Mark{}); p != nil {
			t.Fatalf("cannot be removed without the mark: %v\n%q", p, with)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, jsonSpot, "", "{}", "{ }", "{\n}", "// c", "{\n  \"a\": 1 // b\n}\n", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // a\n\t},\n}", `{"mcpServers":{"a":{}},"z":0}`, "{\"mcpServers\": {/* a */}}", "{\"a\":1/*x*/,/*y*/}", "{\"a\":\n1}")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, tomlSpot, "", "a = 1", "a = 1\n\n\n", "[mcp_servers.a]\ncommand = \"x\"\n\n# end\n", "[mcp_servers]\na = {}\n", "a = \"\"\"\n[mcp_servers.toolman]\n\"\"\"\n", "# c", "\n\n")
}

func FuzzYAML(f *testing.F) {
	fuzz(f, yamlSpot, "", "# c", "a: x", "extensions:\nA: x\n", "extensions:\n  a:\n    b: |\n      text\n  # c\n\nz: 1\n", "extensions: {}\n", "extensions: {a: {}} # x\n", "---\na: 1\n", "a: |+\n  x\n\n", "extensions:\n  a: 'x\n\n   y'\n")
}

func FuzzYAMLList(f *testing.F) {
	fuzz(f, listSpot, "", "mcpServers:\n- name: a\n", "mcpServers:\n  - name: a\n    x: |\n      - b\nz: 1\n", "mcpServers: []\n", "mcpServers:\n", "mcpServers: [{name: a}]\n")
}
