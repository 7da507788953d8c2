package httpd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
	"toolman/router/httpd/presence"
)

func TestWhatIsWrongWithARequestHasItsStatusAndItsCode(t *testing.T) {
	spec := echoing(fakemcp.Modern, map[string][]fakemcp.Step{
		"tools/call poor": {fakemcp.Fail(`{"code":-32021,"message":"no","data":{"requiredCapabilities":{"sampling":{}}}}`)},
		"tools/call odd":  {fakemcp.Fail(`{"code":-32602,"message":"no"}`)},
	})
	spec.Tools = append(spec.Tools, fakemcp.Raw(`{"name":"at","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},`+
		`"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}`))
	f := newFront(t, spec, Options{Options: presence.Options{MaxBody: 1 << 16}})
	c := f.initialize("2025-11-25", "{}")
	with := func(q request, header ...string) request {
		for i := 0; i < len(header); i += 2 {
			q.header[header[i]] = header[i+1]
		}
		return q
	}
	post := func(body string, header ...string) request {
		return with(request{body: body, header: map[string]string{}}, header...)
	}
	session := func(q request) request { return with(q, "Mcp-Session-Id", c.id) }
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	at := func(arguments string, header ...string) request {
		return with(toolCall(`1`, "fs_at", arguments, ""), header...)
	}
	for name, one := range map[string]struct {
		request
		status, code int // of HTTP and JSON-RPC; no code: no error
	}{
		"no Accept":                             {post(ping, "Accept", ""), 406, -32600},
		"Accept without events":                 {post(ping, "Accept", "application/json"), 406, -32600},
		"Accept that refuses events":            {post(ping, "Accept", "application/json, text/event-stream;q=0"), 406, -32600},
		"Accept in lines of its own":            {session(post(ping, "Accept", "text/event-stream; q=0.1 ,APPLICATION/json")), 200, 0},
		"Accept of anything":                    {session(post(ping, "Accept", "*/*")), 200, 0},
		"another Content-Type":                  {post(ping, "Content-Type", "text/plain"), 415, -32600},
		"a Content-Type with a charset":         {session(post(ping, "Content-Type", "application/json; charset=utf-8")), 200, 0},
		"no JSON":                               {post(`{"jsonrpc"`), 400, -32700},
		"nothing":                               {post(``), 400, -32700},
		"no message":                            {post(`{"jsonrpc":"2.0","id":1}`), 400, -32600},
		"an id that is no id":                   {post(`{"jsonrpc":"2.0","id":null,"method":"ping"}`), 400, -32600},
		"too long":                              {post(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1<<16) + `"}`), 413, -32600},
		"another method of HTTP":                {request{method: "PUT"}, 405, -32600},
		"a name that nobody has":                {request{path: "/x", body: ping}, 404, -32600},
		"no session":                            {post(ping), 400, -32600},
		"a session that is not there":           {post(ping, "Mcp-Session-Id", "x"), 404, -32001},
		"a revision that there is not":          {session(post(ping, "MCP-Protocol-Version", "1999-01-01")), 400, -32600},
		"an older revision":                     {session(post(ping, "MCP-Protocol-Version", "2025-06-18")), 200, 0},
		"a batch where there are none":          {session(post("[" + ping + "]")), 400, -32600},
		"an error of the legacy era":            {session(post(`{"jsonrpc":"2.0","id":1,"method":"x/y"}`)), 200, -32601},
		"a GET that takes no events":            {session(request{method: "GET", header: map[string]string{"Accept": "application/json"}}), 406, -32600},
		"a GET without a session":               {request{method: "GET"}, 400, -32600},
		"a DELETE without a session":            {request{method: "DELETE"}, 400, -32600},
		"a GET of the modern era":               {request{method: "GET", header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}}, 405, -32600},
		"a DELETE of the modern era":            {request{method: "DELETE", header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}}, 405, -32600},
		"initialize with a modern header":       {post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "MCP-Protocol-Version", "2026-07-28"), 400, -32020},
		"initialize that says nothing":          {post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), 200, -32602},
		"a modern header without an envelope":   {post(ping, "MCP-Protocol-Version", "2026-07-28"), 400, -32602},
		"a batch with a modern header":          {post("["+ping+"]", "MCP-Protocol-Version", "2026-07-28"), 400, -32600},
		"a modern notification":                 {post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "MCP-Protocol-Version", "2026-07-28"), 202, 0},
		"a modern response":                     {post(`{"jsonrpc":"2.0","id":1,"result":{}}`, "MCP-Protocol-Version", "2026-07-28"), 400, -32600},
		"an envelope without a header":          {with(toolCall(`1`, "fs_echo", `{}`, ""), "MCP-Protocol-Version", ""), 400, -32020},
		"an envelope with a legacy header":      {with(toolCall(`1`, "fs_echo", `{}`, ""), "MCP-Protocol-Version", "2025-11-25"), 400, -32020},
		"an envelope without capabilities":      {post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"), 400, -32602},
		"a revision of the future":              {post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, "MCP-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/list"), 400, -32022},
		"no Mcp-Method":                         {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Method", ""), 400, -32020},
		"another Mcp-Method":                    {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Method", "tools/List"), 400, -32020},
		"a method in another case":              {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Method", "Tools/call"), 400, -32020},
		"no Mcp-Name":                           {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", ""), 400, -32020},
		"the name that its server gives it":     {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", "echo"), 400, -32020},
		"white space around the name":           {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", "  fs_echo\t"), 200, 0},
		"an encoded name":                       {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", "=?base64?ZnNfZWNobw==?="), 200, 0},
		"a name that is not encoded well":       {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", "=?base64?ZnNfZWNobw?="), 400, -32020},
		"a name that is marked in capitals":     {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Name", "=?BASE64?ZnNfZWNobw==?="), 400, -32020},
		"a name outside of ASCII":               {with(toolCall(`1`, "fs_\u00e9", `{}`, ""), "Mcp-Name", "fs_\u00e9"), 400, -32020},
		"a session id is nothing to the modern": {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Session-Id", "x"), 200, 0},
		"a method that the modern era dropped":  {modern(`1`, "ping", "", "", ""), 404, -32601},
		"initialize with an envelope":           {modern(`1`, "initialize", "", "", ""), 404, -32601},
		"a tool that there is not":              {toolCall(`1`, "fs_nothing", `{}`, ""), 200, -32602},
		"a server that needs a capability":      {toolCall(`1`, "fs_poor", `{}`, ""), 400, -32021},
		"a server that refuses":                 {toolCall(`1`, "fs_odd", `{}`, ""), 200, -32602},
		"a parameter without its header":        {at(`{"region":"us"}`), 400, -32020},
		"a parameter in its header":             {at(`{"region":"us"}`, "Mcp-Param-Region", "us"), 200, 0},
		"another parameter in the header":       {at(`{"region":"us"}`, "Mcp-Param-Region", "eu"), 400, -32020},
		"an encoded parameter":                  {at(`{"region":"\u00e9"}`, "Mcp-Param-Region", "=?base64?w6k=?="), 200, 0},
		"a header without its parameter":        {at(`{}`, "Mcp-Param-Region", "us"), 400, -32020},
		"a parameter that is null":              {at(`{"region":null}`), 200, 0},
		"a number that is spelled otherwise":    {at(`{"deep":{"n":42}}`, "Mcp-Param-N", "42.0"), 200, 0},
		"another number":                        {at(`{"deep":{"n":42}}`, "Mcp-Param-N", "43"), 400, -32020},
		"a number that is not exact":            {at(`{"deep":{"n":9007199254740993}}`, "Mcp-Param-N", "9007199254740992"), 400, -32020},
		"a header that no parameter has":        {with(toolCall(`1`, "fs_echo", `{}`, ""), "Mcp-Param-Region", "us"), 200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.do(one.request)
			text := r.text()
			if r.StatusCode != one.status {
				t.Errorf("status %d, want %d: %s", r.StatusCode, one.status, text)
			}
			if has := strings.Contains(text, `"error":`); has != (one.code != 0) || has && !strings.Contains(text, fmt.Sprintf(`"error":{"code":%d,`, one.code)) {
				t.Errorf("want code %d: %s", one.code, text)
			}
			if strings.Contains(text, `"id":null`) {
				t.Errorf("MCP has no id that is null: %s", text)
			}
		})
	}
}

func TestAHeaderThatIsThereTwiceIsRefused(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, nil), Options{})
	q := toolCall(`1`, "fs_echo", `{}`, "")
	for _, name := range []string{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		if got := f.twice(q, name); got != 400 {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestAHeaderMismatchIsSaidAsTheSpecificationSaysIt(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Modern, nil), Options{})
	q := toolCall(`1`, "fs_echo", `{}`, "")
	q.header["Mcp-Name"] = "foo"
	f.do(q).wants(400, httpheader.JSON, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch: Mcp-Name header value 'foo' does not match body value 'fs_echo'"}}`)
}

// A panic on the way of a request ends the process, and says where it came from.
func TestAPanicEndsTheProcess(t *testing.T) {
	if os.Getenv("TOOLMAN_TEST_PANIC") != "" {
		s := httptest.NewServer(EndOnPanic(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a lock is held") })))
		_, _ = http.Get(s.URL)
		return // it goes on: the parent sees that
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAPanicEndsTheProcess$")
	cmd.Env = append(os.Environ(), "TOOLMAN_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a lock is held") || !strings.Contains(string(out), "status_test.go") {
		t.Errorf("it ended with %v and says %s", err, out)
	}
}

func TestAnAbortedHandlerEndsNothing(t *testing.T) {
	s := httptest.NewServer(EndOnPanic(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })))
	defer s.Close()
	if _, err := http.Get(s.URL); err == nil {
		t.Error("the request was answered")
	}
}
