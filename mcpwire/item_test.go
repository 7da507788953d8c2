package mcpwire

import (
	"errors"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

func parsePage(t *testing.T, k Kind, result string) Page {
	t.Helper()
	page, err := ParsePage(k, []byte(result))
	if err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	return page
}

func TestParsePageFindsItemsOfEveryKind(t *testing.T) {
	const decoys = `"tools":[{"name":"t"}],"resources":[{"uri":"r","name":"n"}],"resourceTemplates":[{"uriTemplate":"{t}","name":"n"}],"prompts":[{"name":"p"}]`
	for _, tt := range []struct {
		kind Kind
		want string
	}{{Tool, "t"}, {Resource, "r"}, {Template, "{t}"}, {Prompt, "p"}} {
		page := parsePage(t, tt.kind, `{"_meta":{},`+decoys+`}`)
		if len(page.Items) != 1 || page.Items[0].Name != tt.want || page.Items[0].Kind != tt.kind || len(page.Odd) > 0 || page.More {
			t.Errorf("%s: %+v", tt.kind, page)
		}
	}
}

func TestParsePageFollowsCursors(t *testing.T) {
	for _, tt := range []struct {
		name, member string
		next         string
		more         bool
		odd          int
	}{
		{"absent", ``, "", false, 0},
		{"null", `,"nextCursor":null`, "", false, 0},
		{"a string", `,"nextCursor":"a\u0062\n"`, "ab\n", true, 0},
		{"an empty string, which is a cursor", `,"nextCursor":""`, "", true, 0},
		{"an escaped key", `,"next\u0043ursor":"x"`, "x", true, 0},
		{"a number", `,"nextCursor":5`, "", false, 1},
		{"an object", `,"nextCursor":{"nextCursor":"x"}`, "", false, 1},
		{"false", `,"nextCursor":false`, "", false, 1},
		{"twice", `,"nextCursor":"a","nextCursor":"b"`, "", false, 1},
		{"another case", `,"nextcursor":"a"`, "", false, 1},
		{"on an item", `,"x":{"nextCursor":"a"}`, "", false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := parsePage(t, Tool, `{"tools":[{"name":"a","nextCursor":"b"}]`+tt.member+`}`)
			if page.Next != tt.next || page.More != tt.more || len(page.Odd) != tt.odd {
				t.Errorf("next %q, more %v, odd %v; want %q, %v and %d odd", page.Next, page.More, page.Odd, tt.next, tt.more, tt.odd)
			}
			if len(page.Items) != 1 {
				t.Errorf("%d items, want 1", len(page.Items))
			}
		})
	}
}

func TestParsePageLeavesOutOddItems(t *testing.T) {
	for _, tt := range []struct{ name, item, says string }{
		{"null", `null`, "a tool that is not an object"},
		{"a string", `"name"`, "a tool that is not an object"},
		{"a list", `[{"name":"b"}]`, "a tool that is not an object"},
		{"no name", `{}`, "a tool without name"},
		{"an empty name", `{"name":""}`, "a tool without name"},
		{"a name that is a number", `{"name":1}`, "a tool without name"},
		{"a name that is null", `{"name":null}`, "a tool without name"},
		{"the name twice", `{"name":"b","name":"c"}`, "the member name stands there twice"},
		{"the name twice, once escaped", `{"name":"b","\u006eame":"c"}`, "the member name stands there twice"},
		{"a look-alike of the name", `{"name":"b","Name":"c"}`, "is spelled almost like name"},
		{"a look-alike alone", `{"NAME":"c"}`, "is spelled almost like name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := parsePage(t, Tool, `{"tools":[{"name":"first"},`+tt.item+`,{"name":"last"}],"nextCursor":"x"}`)
			if len(page.Items) != 2 || page.Items[0].Name != "first" || page.Items[1].Name != "last" || page.Next != "x" {
				t.Errorf("kept %+v", page)
			}
			if len(page.Odd) != 1 || !strings.Contains(page.Odd[0].Error(), tt.says) {
				t.Errorf("says %v, want %q", page.Odd, tt.says)
			}
		})
	}
}

func TestParsePageRefusesWhatIsNoList(t *testing.T) {
	for _, result := range []string{
		`null`, `[]`, `[{"name":"a"}]`, `"tools"`, `{}`, `{"tools":null}`, `{"tools":{}}`, `{"tools":"a"}`, `{"prompts":[]}`,
		`{"tools":[],"tools":[]}`, `{"Tools":[]}`, `{"tools":[],"TOOLS":[]}`, ``,
	} {
		if page, err := ParsePage(Tool, []byte(result)); err == nil || len(page.Items) > 0 {
			t.Errorf("%s: no error, but %+v", result, page)
		}
	}
	_, err := ParsePage(Template, []byte(`{}`))
	if want := `the result of resources/templates/list has no list "resourceTemplates"`; err == nil || err.Error() != want {
		t.Errorf("says %v, want %s", err, want)
	}
	_, err = ParsePage(Tool, []byte(`{"Tools":[]}`))
	if _, ok := errors.AsType[*jsonrpc.FormError](err); !ok {
		t.Errorf("a look-alike of tools: %v", err)
	}
}

func TestItemNamesAreUnquoted(t *testing.T) {
	page := parsePage(t, Resource, `{"resources":[ {"name":"x","\u0075ri" : "file:///\u00e4\/\"b\"" } ]}`)
	if got, want := page.Items[0].Name, `file:///ä/"b"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestItemDescription(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		item string
		want string
	}{
		{"a description", Tool, `{"name":"a","title":"b","description":"c"}`, "c"},
		{"a description behind others", Tool, `{"description":"c\nd","title":"b","name":"a"}`, "c\nd"},
		{"only a title", Prompt, `{"name":"a","title":"b"}`, "b"},
		{"an empty description", Tool, `{"name":"a","title":"b","description":""}`, "b"},
		{"a description of another type", Tool, `{"name":"a","title":"b","description":{}}`, "b"},
		{"a description twice", Tool, `{"name":"a","title":"b","description":"c","description":"d"}`, "b"},
		{"the display name of a resource", Resource, `{"uri":"a","name":"b"}`, "b"},
		{"the title of a resource before its name", Resource, `{"uri":"a","name":"b","title":"c"}`, "c"},
		{"the display name of a template", Template, `{"uriTemplate":"a","name":"b"}`, "b"},
		{"a tool with nothing but its name", Tool, `{"name":"a"}`, ""},
		{"a prompt with nothing but its name", Prompt, `{"name":"a"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := parsePage(t, tt.kind, `{"`+tt.kind.Member()+`":[`+tt.item+`]}`)
			if got := page.Items[0].Description; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAppendAsChangesNothingButTheName(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		item string
		want string
	}{
		{"a tool", Tool, `{"name":"a","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`,
			`{"name":"ns_a","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`},
		{"numbers, escapes, spaces and order", Tool, "{ \"x\" : [1.0,1E+2,-0,1e400,9007199254740993],\t\"n\\u0061me\" : \"\\u0061\" , \"y\":\"<\\/\\ud800&>\u2028\" }",
			"{ \"x\" : [1.0,1E+2,-0,1e400,9007199254740993],\t\"n\\u0061me\" : \"ns_a\" , \"y\":\"<\\/\\ud800&>\u2028\" }"},
		{"a resource keeps its display name", Resource, `{"name":"a","uri":"a","description":"a"}`, `{"name":"a","uri":"ns_a","description":"a"}`},
		{"a template", Template, `{"uriTemplate":"a","name":"a"}`, `{"uriTemplate":"ns_a","name":"a"}`},
		{"a prompt", Prompt, `{"arguments":[{"name":"a"}],"name":"a"}`, `{"arguments":[{"name":"a"}],"name":"ns_a"}`},
		{"duplicates elsewhere", Tool, `{"z":1,"z":2,"name":"a"}`, `{"z":1,"z":2,"name":"ns_a"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := parsePage(t, tt.kind, `{"`+tt.kind.Member()+`":[`+tt.item+`]}`)
			if len(page.Items) != 1 {
				t.Fatalf("odd: %v", page.Odd)
			}
			if got := string(page.Items[0].AppendWith([]byte("before "), page.Items[0].Rename("ns_a"))); got != "before "+tt.want {
				t.Errorf("got  %s\nwant before %s", got, tt.want)
			}
		})
	}
	page := parsePage(t, Tool, `{"tools":[{"name":"a"}]}`)
	if got, want := string(page.Items[0].AppendWith(nil, page.Items[0].Rename("q\"\\\n\x01é"))), `{"name":"q\"\\\n\u0001é"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
