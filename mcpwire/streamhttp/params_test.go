package streamhttp

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// tool is a tool's definition with these properties.
func tool(name, properties string) string {
	return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{` + properties + `}}}`
}

func TestArgumentsAreMirroredInHeaders(t *testing.T) {
	list := `{"tools":[` + tool("sql", `"region":{"type":"string","x-mcp-header":"Region"},"dry":{"type":"boolean","x-mcp-header":"Dry"},
		"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}`) + `]}`
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "tools/list") {
			asJSON(w, 200, result(body, list))
			return
		}
		asJSON(w, 200, result(body, "{}"))
	})
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, modern("1", "tools/list", ""))
	h.next()
	f.heard(t)
	for arguments, want := range map[string][3]string{
		`{"region":"eu-1","dry":true,"deep":{"n":42}}`: {"eu-1", "true", "42"},
		`{"region":"\u4e16","dry":false,"deep":{}}`:    {"=?base64?5LiW?=", "false", ""},
		`{"region":null,"deep":{"n":4.2e1}}`:           {"", "", "42"},
		`{"region":{},"deep":7}`:                       {"", "", ""},
		`{"region":"a\r\nX: b","deep":{"n":-7}}`:       {"=?base64?YQ0KWDogYg==?=", "", "-7"},
	} {
		send(t, conn, modern("2", "tools/call", `"name":"sql","arguments":`+arguments))
		r := f.heard(t)
		h.next()
		for i, header := range []string{"Mcp-Param-Region", "Mcp-Param-Dry", "Mcp-Param-N"} {
			if got := r.Header.Get(header); got != want[i] {
				t.Errorf("%s: %s is %q, want %q", arguments, header, got, want[i])
			}
		}
	}
}

func TestToolsWithWrongAnnotationsAreLeftOut(t *testing.T) {
	var mu sync.Mutex
	var logged []string
	good := tool("good", `"x-mcp-header":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","default":{"x-mcp-header":"c"},"x-mcp-header":"B"}`)
	tools := []string{good,
		tool("space", `"a":{"type":"string","x-mcp-header":"A B"}`),
		tool("empty", `"a":{"type":"string","x-mcp-header":""}`),
		tool("null", `"a":{"type":"string","x-mcp-header":null}`),
		tool("number", `"a":{"type":"number","x-mcp-header":"A"}`),
		tool("untyped", `"a":{"x-mcp-header":"A"}`),
		tool("twice", `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"a"}}}`),
		tool("items", `"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`),
		tool("anyof", `"a":{"anyOf":[{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}`),
		`{"name":"root","inputSchema":{"type":"string","x-mcp-header":"A"}}`,
		`{"name":"plain"}`,
	}
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		asJSON(w, 200, result(body, `{"before":1,"tools": [`+strings.Join(tools, " , ")+`] ,"after":2}`))
	})
	conn, h := dial(t, Options{URL: f.URL, Log: func(text string) { mu.Lock(); defer mu.Unlock(); logged = append(logged, text) }})
	send(t, conn, modern("1", "tools/list", ""))
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"before":1,"tools": [` + good + `,{"name":"plain"}] ,"after":2}}`)
	mu.Lock()
	defer mu.Unlock()
	if len(logged) != len(tools)-2 || !strings.Contains(logged[0], "tool space is left out: its x-mcp-header of the parameter a is not a valid header name") {
		t.Errorf("logged: %q", logged)
	}
}

func TestACallWhoseHeadersDoNotMatchIsSentOnceMoreWithThoseOfANewList(t *testing.T) {
	const mismatch = `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}`
	for name, c := range map[string]struct {
		pages []string
		want  string
		posts []string
	}{
		"it helps": {[]string{`{"tools":[],"nextCursor":"p\"2"}`, `{"tools":[` + tool("a", `"x":{"type":"string","x-mcp-header":"X"}`) + `]}`},
			`{"jsonrpc":"2.0","id":1,"result":{}}`, []string{"tools/call", "tools/list", "tools/list", "tools/call"}},
		"it does not help": {[]string{`{"tools":[]}`}, mismatch, []string{"tools/call", "tools/list", "tools/call"}},
	} {
		t.Run(name, func(t *testing.T) {
			page := 0
			f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				switch {
				case methodIs(body, "tools/list"):
					if page > 0 && !strings.Contains(body, `"cursor":"p\"2"`) {
						t.Errorf("the second page is asked for with %s", body)
					}
					asJSON(w, 200, result(body, c.pages[page]))
					page++
				case r.Header.Get("Mcp-Param-X") == "1":
					asJSON(w, 200, result(body, "{}"))
				default:
					asJSON(w, 400, mismatch)
				}
			})
			conn, h := dial(t, Options{URL: f.URL})
			send(t, conn, modern("1", "tools/call", `"name":"a","arguments":{"x":"1"}`))
			h.want(c.want)
			h.none()
			for _, want := range c.posts {
				if got := f.heard(t).method(); got != want {
					t.Errorf("the server got %s, want %s", got, want)
				}
			}
		})
	}
}
