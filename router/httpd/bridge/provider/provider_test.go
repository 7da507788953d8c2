package provider

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	seen := map[string]string{}
	for _, tt := range []struct{ server, tool, want string }{
		{"fs", "read_file", "mcp__fs__read_file"},
		{"a", "b__c", "mcp__a__b__c"},
		{"a__b", "c", ""},
		{"a_", "b", ""},
		{"a", "_b", ""},
		{"my.server", "do it", ""},
		{"fs", long, ""},
		{"fs", long + "y", ""},
		{"fs", "é", ""},
		{"fs", "ü", ""},
	} {
		got := Name(tt.server, tt.tool)
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(got) {
			t.Errorf("%s.%s is called %s, which is no name", tt.server, tt.tool, got)
		}
		if other := seen[got]; other != "" {
			t.Errorf("%s.%s and %s are both called %s", tt.server, tt.tool, other, got)
		}
		seen[got] = tt.server + "." + tt.tool
		if tt.want != "" && got != tt.want {
			t.Errorf("%s.%s: got %s, want %s", tt.server, tt.tool, got, tt.want)
		}
	}
}

func TestCallsAndTheirResults(t *testing.T) {
	const text = `{"content":[{"type":"text","text":"one"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"structuredContent":{"n":1}}`
	const failed = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	for _, tt := range []struct {
		f                        Format
		call, of, result, wanted string
	}{
		{OpenAI, `{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\": 1}"}}`, `{"a":1}`, text, `{"role":"tool","tool_call_id":"c","content":"one\n[image image/png, 4 bytes of base64]"}`},
		{OpenAI, `{"type":"function_call","call_id":"c","id":"fc","name":"t","arguments":""}`, `{}`, failed, `{"type":"function_call_output","call_id":"c","output":"Error: no"}`},
		{Responses, `{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}`, `{}`, text, `{"type":"function_call_output","call_id":"c","output":[{"text":"one","type":"input_text"},{"image_url":"data:image/png;base64,AAAA","type":"input_image"}]}`},
		{Responses, `{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}`, `{}`, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/bmp"}]}`, `{"type":"function_call_output","call_id":"c","output":"[image image/bmp, 4 bytes of base64]"}`},
		{Responses, `{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}`, `{}`, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true}`, `{"type":"function_call_output","call_id":"c","output":[{"text":"Error:","type":"input_text"},{"image_url":"data:image/png;base64,AAAA","type":"input_image"}]}`},
		{XAI, `{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}`, `{}`, text, `{"type":"function_call_output","call_id":"c","output":"one\n[image image/png, 4 bytes of base64]"}`},
		{XAI, `{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}`, `{}`, `{"content":[],"structuredContent":{"n":1}}`, `{"role":"tool","tool_call_id":"c","content":"{\"n\":1}"}`},
		{Anthropic, `{"type":"tool_use","id":"c","name":"t","input":{"a":1}}`, `{"a":1}`, text, `{"type":"tool_result","tool_use_id":"c","content":[{"text":"one","type":"text"},{"source":{"data":"AAAA","media_type":"image/png","type":"base64"},"type":"image"}],"is_error":false}`},
		{Anthropic, `{"id":"c","name":"t","input":{}}`, `{}`, `{"content":[{"type":"text","text":" "},{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true}`,
			`{"type":"tool_result","tool_use_id":"c","content":[{"text":"[image image/png, 4 bytes of base64]","type":"text"}],"is_error":true}`},
		{Anthropic, `{"id":"c","name":"t","input":{}}`, `{}`, `{"content":[],"isError":true}`, `{"type":"tool_result","tool_use_id":"c","content":[{"text":"The tool says that it failed, and not why.","type":"text"}],"is_error":true}`},
		{Anthropic, `{"id":"c","name":"t","input":{}}`, `{}`, `{"content":[{"type":"text","text":""}]}`, `{"type":"tool_result","tool_use_id":"c","content":[],"is_error":false}`},
		{Gemini, `{"functionCall":{"name":"t","args":{"a":1}}}`, `{"a":1}`, text, `{"functionResponse":{"name":"t","response":{"output":{"n":1}}}}`},
		{Gemini, `{"id":"c","name":"t","args":{"a":1}}`, `{"a":1}`, failed, `{"functionResponse":{"id":"c","name":"t","response":{"error":"no"}}}`},
		{MCP, `{"name":"t","arguments":{"a":1}}`, `{"a":1}`, text, text},
	} {
		c, err := ParseCall(tt.f, json.RawMessage(tt.call))
		if err != nil || c.Name != "t" || string(c.Arguments) != tt.of {
			t.Errorf("%s: %v: %+v", tt.call, err, c)
			continue
		}
		if got, err := c.Result(json.RawMessage(tt.result)); err != nil || string(got) != tt.wanted {
			t.Errorf("%s: %v: got\n%s, want\n%s", tt.call, err, got, tt.wanted)
		}
	}
	for _, bad := range []struct {
		f    Format
		call string
	}{
		{OpenAI, `{"type":"function","function":{"name":"t"}}`}, {OpenAI, `{"id":"c","function":{"name":"t","arguments":"{"}}`}, {Anthropic, `{"id":"c","name":"t","input":[]}`},
		{Gemini, `{"args":{}}`}, {MCP, `[]`},
	} {
		if c, err := ParseCall(bad.f, json.RawMessage(bad.call)); err == nil {
			t.Errorf("%s is taken as %+v", bad.call, c)
		}
	}
}

func TestACallThatCannotBeReadIsNamedInWordsOfJSON(t *testing.T) {
	for call, want := range map[string]string{
		`[]`:                      "a tool call of openai cannot be read: it must be a JSON object",
		`{"id":"c","function":3}`: "a tool call of openai cannot be read: function cannot be a JSON number",
		`{"id":"c","type":"function","function":{"name":["t"]}}`: "a tool call of openai cannot be read: function.name cannot be a JSON array",
	} {
		if _, err := ParseCall(OpenAI, json.RawMessage(call)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", call, err, want)
		}
	}
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte(`{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\": 1}"}}`), []byte(`{"content":[{"type":"text","text":"one"}],"isError":true}`))
	f.Add([]byte(`{"type":"tool_use","id":"c","name":"t","input":{"_top_81bf98e4":1}}`), []byte(`{"content":[{"type":"image","data":"AA","mimeType":"image/png"}]}`))
	f.Add([]byte(`{"functionCall":{"name":"t","args":{"_top_81bf98e4":[{"_top_81bf98e4":{}}]}}}`), []byte(`{"structuredContent":{"n":1},"content":[{"type":"resource","resource":{"uri":"a","blob":"AA"}}]}`))
	f.Add([]byte(`{"type":"function_call","call_id":"c","name":"t","arguments":""}`), []byte(`{"content":[{"type":"resource_link","uri":"a"}]}`))
	f.Fuzz(func(t *testing.T, text, result []byte) {
		for _, format := range Formats() {
			c, err := ParseCall(format, text)
			if err == nil {
				c.Restore(json.RawMessage(`{"properties":{"$top":{"properties":{"$top":{}}}}}`))
				if !json.Valid(c.Arguments) || c.Arguments[0] != '{' || c.Name == "" {
					t.Errorf("%s takes %s as a call of %q with %s", format, text, c.Name, c.Arguments)
				}
			}
			if failure := c.Failure("no"); !json.Valid(failure) {
				t.Errorf("%s: %s", format, failure)
			}
			if out, err := c.Result(result); err == nil && !json.Valid(out) && json.Valid(result) {
				t.Errorf("%s: %s", format, out)
			}
		}
	})
}

func TestPackedArgumentsAreOneLineOfStrictJSON(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001)
	for _, tt := range []struct{ packed, want string }{
		{"{\n  \"path\": \"a b\",\r\n\t\"n\": 1.0\n}\n", `{"path":"a b","n":1.0}`},
		{"{\"a\":\n{\"jsonrpc\":\"2.0\",\"id\":4242,\"method\":\"tools/call\"}\n}", `{"a":{"jsonrpc":"2.0","id":4242,"method":"tools/call"}}`},
		{"{\"a\":\"\u2028<&>\\u00e9\"}", "{\"a\":\"\u2028<&>\\u00e9\"}"},
		{" \n ", `{}`}, {"null", `{}`},
		{"{\"a\":\"line\nend\"}", ""}, {"{\"a\":\"\x00\"}", ""}, {"\x00{}", ""}, {"{}\n{}", ""}, {"{}\u2028", ""}, {"\v{}", ""}, {"[]", ""}, {deep, ""},
	} {
		text, err := json.Marshal(map[string]any{"id": "c", "name": "t", "function": map[string]any{"name": "t", "arguments": tt.packed},
			"call_id": "c", "arguments": tt.packed, "input": tt.packed, "args": tt.packed})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{OpenAI, Responses, XAI, Anthropic, Gemini, MCP} {
			c, err := ParseCall(f, text)
			if got := string(c.Arguments); got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%s: %.100q is taken as %.100q, %v; want %.100q", f, tt.packed, got, err, tt.want)
			}
		}
	}
}

func TestNamesOfPropertiesAreTakenAsTheProvidersSay(t *testing.T) {
	for _, p := range []struct {
		form  string
		takes func(string) bool
	}{
		{`^[A-Za-z_][A-Za-z0-9_]{0,63}$`, geminiKey},
		{`^[a-zA-Z0-9_.-]{1,64}$`, anthropicKey},
	} {
		form := regexp.MustCompile(p.form)
		names := []string{"", strings.Repeat("a", 64), strings.Repeat("a", 65), "ä", "a\n", "a\xff"}
		for c := range 256 {
			names = append(names, string([]byte{byte(c)}), string([]byte{'a', byte(c)}))
		}
		for _, name := range names {
			if got := p.takes(name); got != form.MatchString(name) {
				t.Errorf("%s takes %q: %v", p.form, name, got)
			}
		}
	}
}
