package edit

import (
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

func str(s string) source.Node { return source.Node{Value: s} }

// entry is what the tests add.
func entry() []source.Member {
	return []source.Member{
		{Key: "command", Node: str("toolman")},
		{Key: "args", Node: source.Node{Value: []source.Node{str("--config"), str("/t.toml")}}},
		{Key: "enabled", Node: source.Node{Value: true}},
	}
}

var (
	jsonSpot = Spot{Format: JSON, Path: []string{"mcpServers"}}
	deepSpot = Spot{Format: JSON, Path: []string{"projects", "/p", "mcpServers"}}
	tomlSpot = Spot{Format: TOML, Path: []string{"mcp_servers"}}
	yamlSpot = Spot{Format: YAML, Path: []string{"extensions"}}
	listSpot = Spot{Format: YAML, Path: []string{"mcpServers"}, List: true, Create: "name: Local\n"}
)

const jsonEntryText = `{
      "command": "toolman",
      "args": [
        "--config",
        "/t.toml"
      ],
      "enabled": true
    }`

// TestAdd compares a text with the entry "toolman" added with what it should be, and takes the entry
// out again.
func TestAdd(t *testing.T) {
	for _, test := range []struct {
		name         string
		spot         Spot
		before, want string // E stands for the entry in JSON, as it is with an indentation of two
	}{
		{"empty file", jsonSpot, "", "{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"blank file", jsonSpot, "\n \n", "\n \n{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"only a comment, no line end", jsonSpot, "// c", "// c\n{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"empty object", jsonSpot, "{}", "{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}"},
		{"empty object with blanks", jsonSpot, "{ }\n", "{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n }\n"},
		{"empty object on two lines", jsonSpot, "{\n}\n", "{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"other keys", jsonSpot, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"no servers", jsonSpot, "{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}\n"},
		{"a server", jsonSpot, "{\n  \"mcpServers\": {\n    \"a\": {}\n  },\n  \"z\": 0\n}\n", "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"toolman\": E\n  },\n  \"z\": 0\n}\n"},
		{"trailing commas", jsonSpot, "{\n  \"mcpServers\": {\n    \"a\": {}, // a\n  },\n}", "{\n  \"mcpServers\": {\n    \"a\": {}, // a\n    \"toolman\": E,\n  },\n}"},
		{"a comment after the last", jsonSpot, "{\n  \"mcpServers\": {\n    \"a\": {} /* b */ // a\n    // end\n  }\n}", "{\n  \"mcpServers\": {\n    \"a\": {}, /* b */ // a\n    \"toolman\": E\n    // end\n  }\n}"},
		{"only a comment within", jsonSpot, "{\n  \"mcpServers\": { // none\n    // yet\n  }\n}", "{\n  \"mcpServers\": { // none\n    \"toolman\": E\n    // yet\n  }\n}"},
		{"braces on one line", jsonSpot, "{\n  \"mcpServers\": {\"a\": {}}\n}\n", "{\n  \"mcpServers\": {\"a\": {}, \"toolman\": {\"command\": \"toolman\", \"args\": [\"--config\", \"/t.toml\"], \"enabled\": true}}\n}\n"},
		{"all on one line", jsonSpot, `{"mcpServers":{},"z":[1]}`, `{"mcpServers":{"toolman": {"command": "toolman", "args": ["--config", "/t.toml"], "enabled": true}},"z":[1]}`},
		{"a comment before the comma", jsonSpot, "{\n  \"mcpServers\": {\n    \"a\": {} /* x */ ,\n  }\n}", "{\n  \"mcpServers\": {\n    \"a\": {} /* x */ ,\n    \"toolman\": E,\n  }\n}"},
		{"a key that looks like a comment", jsonSpot, "{\n  \"a // }\": \"\\\" // ,\",\n  \"mcpServers\": {}\n}", "{\n  \"a // }\": \"\\\" // ,\",\n  \"mcpServers\": {\n    \"toolman\": E\n  }\n}"},
		{"a project", deepSpot, "{\n  \"projects\": {\n    \"/q\": {}\n  }\n}", "{\n  \"projects\": {\n    \"/q\": {},\n    \"/p\": {\n      \"mcpServers\": {\n        \"toolman\": F\n      }\n    }\n  }\n}"},

		{"TOML: empty", tomlSpot, "", "[mcp_servers.toolman]\ncommand = \"toolman\"\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n"},
		{"TOML: no line end", tomlSpot, "a = 1", "a = 1\n\n[mcp_servers.toolman]\ncommand = \"toolman\"\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n"},
		{"TOML: tables", tomlSpot, "a = 1\n[mcp_servers.x] # x\ncommand = \"x\"\n\n# end\n", "a = 1\n[mcp_servers.x] # x\ncommand = \"x\"\n\n# end\n\n[mcp_servers.toolman]\ncommand = \"toolman\"\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n"},
		{"TOML: keys in the table", tomlSpot, "[mcp_servers]\nx = {command = \"x\"}\ny.command = \"y\"\n", "[mcp_servers]\nx = {command = \"x\"}\ny.command = \"y\"\n\n[mcp_servers.toolman]\ncommand = \"toolman\"\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n"},

		{"YAML: empty", yamlSpot, "", "extensions:\n  toolman:\n    command: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true\n"},
		{"YAML: another key", yamlSpot, "# top\nA: x", "# top\nA: x\nextensions:\n  toolman:\n    command: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true"},
		{"YAML: no entry", yamlSpot, "extensions: # none\nA: x\n", "extensions: # none\n  toolman:\n    command: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true\nA: x\n"},
		{"YAML: entries", yamlSpot, "extensions:\n    dev: # first\n        type: builtin\n        text: |\n          # no comment\n\n          more\n    # last\n\n# A\nA: x\n", "extensions:\n    dev: # first\n        type: builtin\n        text: |\n          # no comment\n\n          more\n    toolman:\n      command: toolman\n      args:\n        - \"--config\"\n        - /t.toml\n      enabled: true\n    # last\n\n# A\nA: x\n"},
		{"YAML: braces", yamlSpot, "A: x\nextensions: {} # none\n", "A: x\nextensions: {\"toolman\": {\"command\": \"toolman\", \"args\": [\"--config\", \"/t.toml\"], \"enabled\": true}} # none\n"},
		{"YAML: list", listSpot, "name: L\nmcpServers:\n- name: a\n  command: a\n# models\nmodels: []\n", "name: L\nmcpServers:\n- name: a\n  command: a\n- name: toolman\n  command: toolman\n  args:\n    - \"--config\"\n    - /t.toml\n  enabled: true\n# models\nmodels: []\n"},
		{"YAML: list, indented", listSpot, "mcpServers:\n  - name: a\n    command: a", "mcpServers:\n  - name: a\n    command: a\n  - name: toolman\n    command: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true"},
		{"YAML: list of a new file", listSpot, "", "name: Local\nmcpServers:\n  - name: toolman\n    command: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true\n"},
	} {
		want := strings.ReplaceAll(strings.ReplaceAll(test.want, ": E", ": "+jsonEntryText), ": F", ": "+strings.ReplaceAll(jsonEntryText, "\n", "\n    "))
		for _, variant := range []struct {
			name string
			do   func(string) string
		}{
			{"", func(s string) string { return s }},
			{" with CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
			{" with a byte order mark", func(s string) string { return "\xef\xbb\xbf" + s }},
			{" with tabs", func(s string) string {
				if test.spot.Format == JSON {
					return strings.ReplaceAll(s, "  ", "\t")
				}
				return s
			}},
		} {
			before := variant.do(test.before)
			if strings.Contains(variant.name, "CRLF") && !strings.Contains(before, "\n") || strings.Contains(variant.name, "tabs") && !strings.Contains(before, "\t") {
				continue
			}
			if strings.Contains(variant.name, "byte") && before == "\xef\xbb\xbf" {
				continue
			}
			t.Run(test.name+variant.name, func(t *testing.T) {
				got, mark, p := test.spot.Set([]byte(before), "toolman", entry())
				if p != nil {
					t.Fatal(p)
				}
				if string(got) != variant.do(want) {
					t.Errorf("added:\n%q\nwant\n%q", got, variant.do(want))
				}
				again, _, p := test.spot.Set(got, "toolman", entry())
				if p != nil || string(again) != string(got) {
					t.Errorf("added again: %v\n%s", p, again)
				}
				back, found, p := test.spot.Remove(got, "toolman", mark)
				if p != nil || !found {
					t.Fatal(found, p)
				}
				if want := before; string(back) != want && !(test.spot.Create != "" && before == "") {
					t.Errorf("removed:\n%q\nwant\n%q", back, want)
				}
			})
		}
	}
}

func TestReplace(t *testing.T) {
	for _, test := range []struct {
		name         string
		spot         Spot
		before, want string
	}{
		{"JSON", jsonSpot, "{\n  \"mcpServers\": {\n    \"toolman\": {\n      // mine\n      \"command\": \"old\",\n      \"env\": {\"A\": \"b\"}\n    }, // end\n    \"z\": {}\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"toolman\": {\n      \"command\": \"toolman\",\n      \"env\": {\n        \"A\": \"b\"\n      },\n      \"args\": [\n        \"--config\",\n        \"/t.toml\"\n      ],\n      \"enabled\": true\n    }, // end\n    \"z\": {}\n  }\n}"},
		{"JSON on one line", jsonSpot, `{"mcpServers": {"toolman": {"command": "old"}, "z": {}}}`, `{"mcpServers": {"toolman": {"command": "toolman", "args": ["--config", "/t.toml"], "enabled": true}, "z": {}}}`},
		{"the same in another order", jsonSpot, `{"mcpServers": {"toolman": {"mine": 1, "enabled": true, "args": ["--config", "/t.toml"], "command": "toolman"}}}`, `{"mcpServers": {"toolman": {"mine": 1, "enabled": true, "args": ["--config", "/t.toml"], "command": "toolman"}}}`},
		{"TOML", tomlSpot, "[mcp_servers.toolman]\ncommand = \"old\" # old\n[mcp_servers.toolman.env]\nA = \"b\"\n\n[z]\n", "[mcp_servers.toolman]\ncommand = \"toolman\"\nenv = { A = \"b\" }\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n\n[z]\n"},
		{"TOML in one key", tomlSpot, "[mcp_servers]\ntoolman = {command = \"old\"}\nx = {}\n", "[mcp_servers]\nx = {}\n\n[mcp_servers.toolman]\ncommand = \"toolman\"\nargs = [\"--config\", \"/t.toml\"]\nenabled = true\n"},
		{"YAML", yamlSpot, "extensions:\n  toolman:\n    command: old\n    mine: [1]\n  # z\n  z: {}\n", "extensions:\n  toolman:\n    command: toolman\n    mine:\n      - 1\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true\n  # z\n  z: {}\n"},
		{"YAML list", listSpot, "mcpServers:\n  - command: old\n    name: toolman\n  - name: z\n", "mcpServers:\n  - command: toolman\n    name: toolman\n    args:\n      - \"--config\"\n      - /t.toml\n    enabled: true\n  - name: z\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, mark, p := test.spot.Set([]byte(test.before), "toolman", entry())
			if p != nil {
				t.Fatal(p)
			}
			if string(got) != test.want || mark != (Mark{}) {
				t.Errorf("got %v\n%s\nwant\n%s", mark, got, test.want)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for _, test := range []struct {
		name         string
		spot         Spot
		before, want string // without "x"
	}{
		{"first", jsonSpot, "{\n  \"mcpServers\": {\n    // about x\n    \"x\": {\"a\": [1, 2]}, // x\n    \"y\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    // about x\n    \"y\": {}\n  }\n}"},
		{"middle", jsonSpot, "{\n  \"mcpServers\": {\n    \"w\": {}, // w\n    \"x\": {},\n\n    \"y\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"w\": {}, // w\n\n    \"y\": {}\n  }\n}"},
		{"last", jsonSpot, "{\n  \"mcpServers\": {\n    \"w\": {}, // w\n    // x\n    \"x\": {} // x\n  }\n}", "{\n  \"mcpServers\": {\n    \"w\": {} // w\n    // x\n  }\n}"},
		{"last with a trailing comma", jsonSpot, "{\n  \"mcpServers\": {\n    \"w\": {},\n    \"x\": {},\n  }\n}", "{\n  \"mcpServers\": {\n    \"w\": {},\n  }\n}"},
		{"only", jsonSpot, "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}", "{\n  \"mcpServers\": {}\n}"},
		{"only, with a comment", jsonSpot, "{\n  \"mcpServers\": { // c\n    \"x\": {}\n  }\n}", "{\n  \"mcpServers\": { // c\n  }\n}"},
		{"on one line", jsonSpot, `{"mcpServers":{"w":1,"x":{},"y":2}}`, `{"mcpServers":{"w":1,"y":2}}`},
		{"absent", jsonSpot, `{"mcpServers":{"y":{}}}`, `{"mcpServers":{"y":{}}}`},
		{"TOML tables", tomlSpot, "# top\n\n[mcp_servers.x]\ncommand = \"x\" # x\n# within\nargs = [\n  \"]\",\n]\n\n[mcp_servers.x.env]\nA = \"b\"\n\n# y\n[mcp_servers.y]\n\n[mcp_servers.x.tools.t]\nb = 1\n", "# top\n\n# y\n[mcp_servers.y]\n"},
		{"TOML keys", tomlSpot, "[mcp_servers]\nw = {}\nx = { command = \"x\" } # x\ny = {}\n", "[mcp_servers]\nw = {}\ny = {}\n"},
		{"TOML dotted keys", tomlSpot, "mcp_servers.x.command = \"x\"\nmcp_servers.\"x\".args = []\nz = 1\n", "z = 1\n"},
		{"TOML only", tomlSpot, "[mcp_servers.x]\n", ""},
		{"YAML", yamlSpot, "extensions:\n  w: {}\n  # about x\n  x:\n    a: |\n      text\n\n  # about y\n  y:\n    a: 1\n", "extensions:\n  w: {}\n  # about x\n\n  # about y\n  y:\n    a: 1\n"},
		{"YAML list", listSpot, "mcpServers:\n- name: w\n-  command: x\n   name: x\n   args:\n   - a\n- name: y\n", "mcpServers:\n- name: w\n- name: y\n"},
		{"YAML only", yamlSpot, "a: 1\nextensions:\n  x:\n    y: 1\nb: 2\n", "a: 1\nextensions:\nb: 2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, p := test.spot.Remove([]byte(test.before), "x", Mark{})
			if p != nil {
				t.Fatal(p)
			}
			if string(got) != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestRemoveAfterChanges takes out an entry from a file that has been changed since.
func TestRemoveAfterChanges(t *testing.T) {
	before := []byte("{\n  \"a\": 1\n}\n")
	got, mark, p := jsonSpot.Set(before, "toolman", entry())
	if p != nil {
		t.Fatal(p)
	}
	changed := strings.Replace(string(got), "    }\n  }", "    },\n    \"new\": {}\n  },\n  \"b\": 2", 1)
	back, _, p := jsonSpot.Remove([]byte(changed), "toolman", mark)
	if want := "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"new\": {}\n  },\n  \"b\": 2\n}\n"; p != nil || string(back) != want {
		t.Errorf("%v\n%s", p, back)
	}
	// A client has written it again in its own way.
	back, _, p = jsonSpot.Remove([]byte(`{"a":1,"mcpServers":{"toolman":{"command":"toolman"}},"b":2}`), "toolman", mark)
	if want := `{"a":1,"b":2}`; p != nil || string(back) != want {
		t.Errorf("%v\n%s", p, back)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		spot             Spot
	}{
		{"syntax", "{\n\"a\": 1,,\n}", "line 2: this is not JSON: invalid character ',' at start of value", jsonSpot},
		{"an array", "[]", "line 1: the file is an array where an object is expected", jsonSpot},
		{"null", `{"mcpServers": null}`, `line 1: "mcpServers" is null where an object is expected`, jsonSpot},
		{"twice", "{\"mcpServers\": {},\n\"mcpServers\": {}}", "line 2: the key \"mcpServers\" has already been given", jsonSpot},
		{"an entry that is no object", `{"mcpServers": {"toolman": 1}}`, `line 1: "toolman" is a number where an object is expected`, jsonSpot},
		{"TOML: an inline table", "x = 1\nmcp_servers = {a = {}}\n", "line 2: mcp_servers is an inline table; write its entries as tables of their own: [mcp_servers.NAME]", tomlSpot},
		{"TOML: syntax", "a = \n", "line 1: this is not TOML", tomlSpot},
		{"YAML: an alias", "a: &a {x: {}}\nextensions: *a\n", "alias of another value", yamlSpot},
		{"YAML: null", "extensions: ~\n", "is null", yamlSpot},
		{"YAML: two documents", "a: 1\n---\nb: 2\n", "several documents", yamlSpot},
		{"YAML: a list", "- a\n", "the file is a list", yamlSpot},
		{"YAML: a scalar", "extensions: x\n", "line 1: \"extensions\" is a string", yamlSpot},
		{"YAML: braces around all", "{A: x}\n", "not a mapping with a key on each line", yamlSpot},
		{"YAML: syntax", "a: [\n", "this is not YAML", yamlSpot},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, p := test.spot.Set([]byte(test.text), "toolman", entry())
			if p == nil {
				t.Fatal("it was edited")
			}
			got := p.String()
			if p.Line > 0 {
				got = strings.Replace("line N: ", "N", string(rune('0'+p.Line)), 1) + got
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
