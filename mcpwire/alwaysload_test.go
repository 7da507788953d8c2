package mcpwire

import (
	"testing"

	"toolman/jsonrpc"
)

func TestAlwaysLoad(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"no _meta":              {`{"name":"a"}`, `{"_meta":{"anthropic/alwaysLoad":true},"name":"a"}`},
		"spaces":                {"{ \n\"name\":\"a\" }", "{\"_meta\":{\"anthropic/alwaysLoad\":true}, \n\"name\":\"a\" }"},
		"_meta":                 {`{"name":"a","_meta":{"x":{"_meta":1}}}`, `{"name":"a","_meta":{"anthropic/alwaysLoad":true,"x":{"_meta":1}}}`},
		"an empty one":          {`{"_meta":{ },"name":"a"}`, `{"_meta":{"anthropic/alwaysLoad":true },"name":"a"}`},
		"said already":          {`{"_meta":{"anthropic/alwaysLoad":false},"name":"a"}`, ""},
		"said in other letters": {`{"_meta":{"anthropic\/alwaysLoad":false},"name":"a"}`, ""},
		"_meta is no object":    {`{"_meta":null,"name":"a"}`, ""},
		"_meta is there twice":  {`{"_meta":{},"name":"a","_meta":{}}`, ""},
	} {
		it, err := parseItem(Tool, []byte(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		e := it.AlwaysLoad()
		if e.New == nil {
			if tt.want != "" {
				t.Errorf("%s: no edit", name)
			}
			continue
		}
		if got := string(jsonrpc.AppendSplice(nil, it.Raw, e)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
