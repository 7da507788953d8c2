package apps

import (
	"slices"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

func TestReadTool(t *testing.T) {
	for _, c := range []struct {
		definition string
		pages      []string
		appOnly    bool
	}{
		{`{"name":"a"}`, nil, false},
		{`{"name":"a","_meta":null}`, nil, false},
		{`{"name":"a","_meta":{"ui":{"resourceUri":"ui://x/y"},"ui/resourceUri":"ui://x/y"}}`, []string{"ui://x/y"}, false},
		{`{"name":"a","_meta":{"ui/resourceUri":"ui://old","ui":{"resourceUri":"ui://new"}}}`, []string{"ui://new", "ui://old"}, false},
		{`{"name":"a","_meta":{"\u0075i":{"resourceU\u0072i":"ui:\/\/x"}}}`, []string{"ui://x"}, false},
		{`{"name":"a","_meta":{"ui":{"resourceUri":"https://x"}}}`, nil, false},
		{`{"name":"a","_meta":{"ui":{"resourceUri":7,"visibility":"app"}}}`, nil, false},
		{`{"name":"a","_meta":{"ui":{"resourceUri":"ui://a","resourceUri":"ui://b"}}}`, nil, false},
		{`{"name":"a","_meta":{"ui":{"visibility":["app"]}}}`, nil, true},
		{`{"name":"a","_meta":{"ui":{"visibility":["app","model"],"resourceUri":"ui://a"}}}`, []string{"ui://a"}, false},
		{`{"name":"a","_meta":{"ui":{"visibility":["app",null],"resourceUri":"ui://a"}}}`, []string{"ui://a"}, true},
	} {
		tool := ReadTool([]byte(c.definition))
		if got := tool.Pages(); !slices.Equal(got, c.pages) || tool.HiddenFromModel() != c.appOnly {
			t.Errorf("%s: %q, app only %v", c.definition, got, tool.HiddenFromModel())
		}
		if tool != nil && !tool.AppOnly && !tool.HasPage() {
			t.Errorf("%s says nothing, but there is a Tool", c.definition)
		}
	}
}

func TestContest(t *testing.T) {
	const page = "ui://map/app.html"
	for _, c := range []struct {
		name    string
		servers []Server
		want    map[[2]string]string // by server and URI
	}{
		{"alone", []Server{{"a", "a", []string{page, page}}, {"b", "b", []string{"ui://other"}}}, nil},
		{"two", []Server{{"a", "a", []string{page}}, {"b", "b", []string{page, "ui://own"}}},
			map[[2]string]string{{"a", page}: "ui://a/map/app.html", {"b", page}: "ui://b/map/app.html"}},
		{"without a namespace", []Server{{"my server", "", []string{page}}, {"b", "b", []string{page}}},
			map[[2]string]string{{"my server", page}: "ui://my%20server/map/app.html", {"b", page}: "ui://b/map/app.html"}},
		{"one namespace", []Server{{"a", "n", []string{page}}, {"b", "n", []string{page}}},
			map[[2]string]string{{"a", page}: "ui://a/map/app.html", {"b", page}: "ui://b/map/app.html"}},
		{"a name that is a namespace", []Server{{"a", "", []string{page}}, {"b", "a", []string{page}}},
			map[[2]string]string{{"a", page}: "ui://a~/map/app.html", {"b", page}: "ui://a/map/app.html"}},
		{"the name of another's page is taken", []Server{{"a", "a", []string{page, "ui://b/map/app.html"}}, {"b", "b", []string{page}}},
			map[[2]string]string{{"a", page}: "ui://a/map/app.html", {"b", page}: "ui://b/map/app.html",
				{"a", "ui://b/map/app.html"}: "ui://a/b/map/app.html"}},
		{"the name of its own page is taken", []Server{{"a", "a", []string{page, "ui://a/map/app.html"}}, {"b", "b", []string{page}}},
			map[[2]string]string{{"a", page}: "ui://a/map/app.html", {"b", page}: "ui://b/map/app.html",
				{"a", "ui://a/map/app.html"}: "ui://a/a/map/app.html"}},
	} {
		for _, order := range []bool{false, true} {
			servers := slices.Clone(c.servers)
			if order {
				slices.Reverse(servers)
			}
			n := Contest(servers)
			seen := map[string]bool{}
			for _, s := range servers {
				for _, uri := range s.Pages {
					shown, ok := n.Shown(s.Name, uri)
					if shown != c.want[[2]string{s.Name, uri}] || ok != (shown != "") {
						t.Errorf("%s: server %s: %s is shown as %q", c.name, s.Name, uri, shown)
					}
					if ok && seen[s.Name+shown] {
						t.Errorf("%s: server %s has two pages %s", c.name, s.Name, shown)
					}
					seen[s.Name+shown] = true
				}
			}
		}
	}
}

func TestAppendRenames(t *testing.T) {
	for _, c := range []struct {
		method       mcpwire.Method
		result, want string
	}{
		{mcpwire.ResourcesRead, `{"contents":[{"uri":"ui:\/\/x", "text":"ui://x"},{"uri":"file:///x"}]}`,
			`{"contents":[{"uri":"ui://n/x", "text":"ui://x"},{"uri":"file:///x"}]}`},
		{mcpwire.ToolsCall, `{"content":[{"type":"text","text":"ui://x","uri":"ui://x"},{"type":"resource_link","uri":"ui://x"},` +
			`{"type":"resource","resource":{"uri":"ui://x","blob":""}},null],"structuredContent":{"uri":"ui://x"},"_meta":{"ui":{"resourceUri":"ui://x"},"ui/resourceUri":"ui://y"}}`,
			`{"content":[{"type":"text","text":"ui://x","uri":"ui://x"},{"type":"resource_link","uri":"ui://n/x"},` +
				`{"type":"resource","resource":{"uri":"ui://n/x","blob":""}},null],"structuredContent":{"uri":"ui://x"},"_meta":{"ui":{"resourceUri":"ui://n/x"},"ui/resourceUri":"ui://y"}}`},
		{mcpwire.PromptsGet, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://x"}}}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://n/x"}}}]}`},
		{mcpwire.Complete, `{"contents":[{"uri":"ui://x"}]}`, `{"contents":[{"uri":"ui://x"}]}`},
	} {
		var m jsonrpc.Message
		if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+c.result+`}`), &m); err != nil {
			t.Fatal(err)
		}
		edits := AppendRenames(nil, &m, c.method, func(uri string) (string, bool) { return "ui://n/x", uri == "ui://x" })
		if got := jsonrpc.AppendSplice(nil, m.Frame, edits...); string(got) != `{"jsonrpc":"2.0","id":1,"result":`+c.want+`}` {
			t.Errorf("%s: %s", c.method, got)
		}
	}
}

func TestCapabilities(t *testing.T) {
	for _, c := range []struct{ declared, extensions, with string }{
		{`{}`, "", `{"roots":{}}`},
		{`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a"]},"io.modelcontextprotocol/tasks":{}},"roots":{}}`,
			`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a"]}}}`,
			`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a"]}},"roots":{}}`},
		{`{"extensions":{"a/b":{}}}`, `{"extensions":{"a/b":{}}}`, `{"extensions":{"a/b":{}},"roots":{}}`},
		{`{"extensions":{"a/b":{},"a/b":{}}}`, `{"extensions":{"a/b":{},"a/b":{}}}`, `{"extensions":{"a/b":{},"a/b":{}},"roots":{}}`},
		{`{"extensions":true}`, "", `{"roots":{}}`},
	} {
		if got := ExtensionsOf([]byte(c.declared)); string(got) != c.extensions {
			t.Errorf("%s: %s", c.declared, got)
		}
		if got := WithExtensions([]byte(`{"roots":{}}`), []byte(c.declared)); string(got) != c.with {
			t.Errorf("%s: %s", c.declared, got)
		}
	}
	if got := WithExtensions([]byte(`{}`), Declared); string(got) != string(Declared) || !Supported(got) || Supported([]byte(`{"extensions":{}}`)) || Supported(nil) {
		t.Errorf("%s", got)
	}
}

func TestOpened(t *testing.T) {
	var o Opened
	if o.Narrow([]string{"a"}) != nil {
		t.Error("a page is open at the start")
	}
	o.Read("a")
	o.Read("b")
	if got := o.Narrow([]string{"a", "b", "c"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("two pages were read: %q", got)
	}
	o.Called("b")
	if got := o.Narrow([]string{"a", "b"}); !slices.Equal(got, []string{"b"}) || !o.Has("a") || !o.Has("b") || o.Has("c") {
		t.Errorf("a tool of b was called: %q", got)
	}
}
