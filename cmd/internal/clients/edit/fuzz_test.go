package edit

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolman/cmd/internal/config/source"
)

// fuzz adds an entry to any text and takes it out again. What was added has to be all that differs,
// which Set checks, and the text has to be the same afterwards.
func fuzz(f *testing.F, spot Spot, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), "toolman")
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")), "a.b c")
		f.Add([]byte("\xef\xbb\xbf"+s), "é\"'\\\n#")
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if name == "" || !utf8.ValidString(name) {
			return
		}
		_, found, p := spot.Get(text, name)
		if p != nil {
			return
		}
		with, mark, p := spot.Set(text, name, entry())
		if p != nil {
			return
		}
		if found {
			spot.Remove(text, name, mark) // which checks itself
			return
		}
		members, found, p := spot.Get(with, name)
		if p != nil || !found || !sameMembers(slices.DeleteFunc(members, func(m source.Member) bool { return spot.List && m.Key == "name" }), entry()) {
			t.Fatalf("the entry is not there: %v\n%q", p, with)
		}
		if again, _, p := spot.Set(with, name, entry()); p != nil || string(again) != string(with) {
			t.Fatalf("added again: %v\n%q", p, again)
		}
		back, _, p := spot.Remove(with, name, mark)
		if p != nil {
			t.Fatalf("cannot be removed: %v\n%q", p, with)
		}
		if string(back) != string(text) && !(spot.Create != "" && len(strings.TrimSpace(string(text))) == 0) {
			t.Fatalf("removed:\n%q\nwant\n%q\nof\n%q", back, text, with)
		}
		// Without the mark, the values are the same, and the layout need not be.
		if _, _, p := spot.Remove(with, name, Mark{}); p != nil {
			t.Fatalf("cannot be removed without the mark: %v\n%q", p, with)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, jsonSpot, "", "{}", "{ }", "{\n}", "// c", "{\n  \"a\": 1 // b\n}\n", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // a\n\t},\n}", `{"mcpServers":{"a":{}},"z":0}`, "{\"mcpServers\": {/* a */}}", "{\"a\":1/*x*/,/*y*/}", "{\"a\":\n1}",
		"/* /* */ {\"a\": \"*/\", // \"\n /**/ \"mcpServers\" /*1*/ : /*2*/ {\"toolman\":{\"x\":1e999},\"é\":2,},\"\\u0061\":3,/*3*/} // e", "{\"mcpServers\":{\"a\":{\n}\n,\n\"b\":{}}\n\n}")
}

func FuzzJSONProject(f *testing.F) {
	fuzz(f, deepSpot, "{}", `{"projects":{}}`, "{\n \"projects\": {\n  \"/q\": {\"mcpServers\": {}},\n  \"/p\": {} // p\n }\n}", "{\"projects\":{\"/p\":{\"mcpServers\":{\"a\":{}}},},}")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, tomlSpot, "", "\xef\xbb\xbf", "a = 1", "a = 1\n\n\n", "[mcp_servers.a]\ncommand = \"x\"\n\n# end\n", "[mcp_servers]\na = {}\n", "a = \"\"\"\n[mcp_servers.toolman]\n\"\"\"\n", "# c", "\n\n",
		"mcp_servers.a.b = 1\nmcp_servers.\"toolman\".c = [\n 1, # ]\n]\n[x]\n", "mcp_servers = { a = { b = 1 } }\n", "[mcp_servers.toolman]\na = '''\n[x]'''\n\n [mcp_servers.toolman.env]\n A = 1 # a\n[[x]]\n[mcp_servers.b]", "[ mcp_servers . 'é.x' ]\n\"a.b\" = 1979-05-27\n")
}

func FuzzYAML(f *testing.F) {
	fuzz(f, yamlSpot, "", "a:\r 0", "# c", "a: x", "extensions:\nA: x\n", "extensions:\n  a:\n    b: |\n      text\n  # c\n\nz: 1\n", "extensions: {}\n", "extensions: {a: {}} # x\n", "---\na: 1\n", "a: |+\n  x\n\n", "extensions:\n  a: 'x\n\n   y'\n",
		"x: &x {b: 1}\nextensions: &e\n  a: *x\n  toolman: &t\n    c: 1\n  d:\n    <<: *t\n", "\"extensions\" : # c\n  ? a\n  : b\n...\n", "extensions:\n  - a\n", "extensions: {\n  a: {}, # }\n  }\n", "extensions: !!map\n  \"é\": 1\n # c\n", "extensions:\n  a:\n  - 1\n#c\n  b: >-\n    x\n\n")
}

func FuzzYAMLList(f *testing.F) {
	fuzz(f, listSpot, "", "a:\r 0", "mcpServers:\n- name: a\n", "mcpServers:\n  - name: a\n    x: |\n      - b\nz: 1\n", "mcpServers: []\n", "mcpServers:\n", "mcpServers: [{name: a}]\n",
		"mcpServers:\n-\n  name: toolman\n- # c\n  name: b\n", "mcpServers:\n  - {name: toolman, a: 1}\n  - &x\n    name: c\n", "mcpServers: [\n  ]\n")
}
