package store

import (
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
)

func pin(definition string) Pin { return NewPin("fs", "legacy", []byte(definition)) }

func tool(name string) ItemKey { return ItemKey{mcpwire.Tool, name} }

func TestCompare(t *testing.T) {
	old := Pins{tool("gone"): pin(`{"a":1}`), tool("same"): pin(`{"a":1}`), tool("changed"): pin(`{"a":1}`), {mcpwire.Prompt, "same"}: pin(`{}`)}
	now := Pins{tool("same"): NewPin("elsewhere", "legacy", []byte(`{"a":1}`)), tool("changed"): pin(`{"a":2}`), tool("new"): pin(`{}`), {mcpwire.Prompt, "same"}: pin(`{"b":0}`)}
	var got []string
	for _, c := range ComparePins(old, now) {
		got = append(got, c.Line())
	}
	if want := "~ tool changed (changed), - tool gone (gone), + tool new (new), ~ prompt same (changed)"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if changes := ComparePins(nil, nil); changes != nil {
		t.Errorf("nothing has changed: %v", changes)
	}
}

// An item with another name and the same definition otherwise may have been renamed.
func TestCompareFindsWhatWasRenamed(t *testing.T) {
	const status, twin = `{"description":"d","name":"status"}`, `{"description":"t","name":"%s"}`
	old := Pins{tool("git_status"): pin(status), tool("git_x"): pin(fmt.Sprintf(twin, "x")), {mcpwire.Prompt, "git_p"}: pin(`{"name":"p"}`), tool("git_large"): {RefID: "sha256:1"}}
	now := Pins{tool("git_stat"): pin(`{"description":"d","name":"stat"}`), tool("git_y"): pin(fmt.Sprintf(twin, "y")), tool("git_z"): pin(fmt.Sprintf(twin, "z")),
		tool("git_p"): pin(`{"name":"q"}`), tool("git_huge"): {RefID: "sha256:2"}}
	var got strings.Builder
	for _, c := range ComparePins(old, now) {
		if err := c.Print(&got); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"- tool git_status (gone; git_stat may be what it has become, server fs)\n",
		"+ tool git_stat (new, defined as git_status was, but for the name, server fs)\n-",
		"- tool git_x (gone, server fs)\n", // may be git_y or git_z
		"- prompt git_p (gone, server fs)\n",
		"- tool git_large (gone, server )\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("got\n%s, want %q", got.String(), want)
		}
	}
}

// The era of a server is that of its pins, if they agree. The era of an item alone is no change.
func TestEras(t *testing.T) {
	def := []byte(`{}`)
	s := Pins{tool("a"): NewPin("one", "legacy", def), tool("b"): NewPin("one", "legacy", def), tool("c"): NewPin("two", "modern", def),
		tool("d"): NewPin("both", "modern", def), tool("e"): NewPin("both", "legacy", def), tool("f"): NewPin("both", "modern", def)}
	if got := fmt.Sprint(s.Eras()); got != "map[one:legacy two:modern]" {
		t.Errorf("got %s", got)
	}
	if changes := ComparePins(Pins{tool("a"): NewPin("one", "legacy", def)}, Pins{tool("a"): NewPin("one", "modern", def)}); changes != nil {
		t.Errorf("got %v", changes)
	}
}

func TestPrint(t *testing.T) {
	large := `{"description":"` + strings.Repeat("x", maxDefinition) + `"}`
	for _, tt := range []struct {
		name string
		c    Change
		want string
	}{
		{"a description and a schema",
			change(`{"description":"Reads.\nOne file.\nThe end.","inputSchema":{"properties":{"path":{"type":"string"},"tail":{"type":"number"}},"required":["path"]},"name":"r"}`,
				`{"annotations":{"readOnlyHint":true},"description":"Reads.\nMany files.\nSlowly.\nThe end.","inputSchema":{"properties":{"head":{"type":"number"},"path":{"type":["string","null"]}},"required":["path"]},"name":"r"}`),
			`~ tool fs_r (changed, server fs)
    annotations
      + {"readOnlyHint":true}
    description
      - One file.
      + Many files.
      + Slowly.
    inputSchema.properties.head
      + {"type":"number"}
    inputSchema.properties.path.type
      - "string"
      + ["string","null"]
    inputSchema.properties.tail
      - {"type":"number"}
`},
		{"lists, from both ends",
			change(`{"arguments":[{"name":"a"},{"name":"b"},{"name":"c"}],"required":["x","z"]}`, `{"arguments":[{"name":"a"},{"name":"b","required":true},{"name":"c"}],"required":["x","y","z"]}`),
			`~ tool fs_r (changed, server fs)
    arguments[1].required
      + true
    required[1]
      + y
`},
		{"what hides is shown", change(`{"description":"a","x y":1}`, `{"description":"a\u200b\u202e\u001b[2J\udb40\udc41","x y":1.5}`),
			`~ tool fs_r (changed, server fs)
    description
      - a
      + a\u{200b}\u{202e}\u{1b}[2J\u{e0041}
    ["x y"]
      - 1
      + 1.5
`},
		{"nothing that differs looks equal", change(`{"a":"1","b":"","c":"\\u{200b}"}`, `{"a":1,"b":"\"\"","c":"\u200b"}`),
			`~ tool fs_r (changed, server fs)
    a
      - "1"
      + 1
    b
      - ""
      + "\"\""
    c
      - \u{5c}u{200b}
      + \u{200b}
`},
		{"new", Change{ItemKey: tool("fs_r"), New: change("{}", `{"description":"Reads\nall","name":"r"}`).New},
			`+ tool fs_r (new, server fs)
    description
      + Reads
      + all
    name
      + r
`},
		{"gone", Change{ItemKey: tool("fs_\x1br"), Old: change(`{}`, `{}`).Old}, "- tool fs_\\u{1b}r (gone, server fs)\n"},
		{"too large to be kept", change(large, `{"a":1}`), "~ tool fs_r (changed, server fs)\n    a definition of more than 64 KiB is not kept, so there is nothing to compare it with\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := tt.c.Print(&out); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), tt.want)
			}
		})
	}
}

func change(old, now string) Change {
	a, b := pin(old), pin(now)
	return Change{ItemKey: tool("fs_r"), Old: &a, New: &b}
}
