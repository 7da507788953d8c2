package mcpwire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
)

// itemOf reads an item.
func itemOf(t *testing.T, k Kind, raw string) *Item {
	t.Helper()
	page, err := ParsePage(k, []byte(`{"`+k.Member()+`":[`+raw+`]}`))
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%s: %v %v", raw, err, page.Odd)
	}
	return &page.Items[0]
}

func definition(t *testing.T, k Kind, raw string) string {
	t.Helper()
	def, err := itemOf(t, k, raw).Definition()
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(def)
}

func TestDefinitionHoldsWhatAnItemIsAndNothingElse(t *testing.T) {
	for _, tt := range []struct {
		name      string
		kind      Kind
		raw, want string
	}{
		{"a tool", Tool,
			`{"title":"T","name":"n","icons":[{"src":"x"}],"_meta":{"a":1},"execution":{"taskSupport":"optional"},"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"description":"d","later":1}`,
			`{"annotations":{"readOnlyHint":true},"description":"d","inputSchema":{"type":"object"},"name":"n","outputSchema":{"type":"object"},"title":"T"}`},
		{"a resource", Resource,
			`{"uri":"file:///a","name":"n","title":"T","description":"d","mimeType":"text/plain","size":12,"annotations":{"audience":["user"],"lastModified":"2025-01-12T15:00:58Z","priority":0.8}}`,
			`{"annotations":{"audience":["user"],"priority":0.8},"description":"d","mimeType":"text/plain","name":"n","title":"T","uri":"file:///a"}`},
		{"a template", Template,
			`{"uriTemplate":"file:///{path}","name":"n","annotations":{"lastModified":"2025-01-12T15:00:58Z"}}`,
			`{"name":"n","uriTemplate":"file:///{path}"}`},
		{"a prompt", Prompt,
			`{"name":"n","arguments":[{"required":true,"name":"b"},{"name":"a"}],"description":"d"}`,
			`{"arguments":[{"name":"b","required":true},{"name":"a"}],"description":"d","name":"n"}`},
		{"null and nothing said are absent", Tool, `{"name":"n","title":null,"annotations":{ }}`, `{"name":"n"}`},
		{"lastModified of a tool is no date", Tool, `{"name":"n","annotations":{"lastModified":1}}`, `{"annotations":{"lastModified":1},"name":"n"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := definition(t, tt.kind, tt.raw); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMembersThatNoRevisionHasAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		raw  string
		want []string
	}{
		{"none", Tool, `{"name":"n","title":"t","description":"d","inputSchema":{"x":1},"outputSchema":{},"annotations":{"x":1},"icons":[],"_meta":{"x":1},"execution":{}}`, nil},
		{"of a resource", Resource, `{"uri":"a:b","name":"n","title":"t","description":"d","mimeType":"m","annotations":{},"icons":[],"_meta":{},"size":1}`, nil},
		{"of a template", Template, `{"uriTemplate":"a:b","name":"n","title":"t","description":"d","mimeType":"m","annotations":{},"icons":[],"_meta":{}}`, nil},
		{"of a prompt", Prompt, `{"name":"n","title":"t","description":"d","arguments":[],"icons":[],"_meta":{}}`, nil},
		{"some, one twice", Tool, `{"x":1,"name":"n","instruct\u0069ons":"do","instructions":"do not","":2}`, []string{"", "instructions", "x"}},
		{"of another kind", Prompt, `{"name":"n","size":1,"execution":{},"inputSchema":{}}`, []string{"execution", "inputSchema", "size"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := itemOf(t, tt.kind, tt.raw).UnknownMembers(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDefinitionIsTheSameInEverySpelling(t *testing.T) {
	const plain = `{"name":"é/x","description":"a\nb","inputSchema":{"a":10,"b":[true,null]}}`
	for _, other := range []string{
		`{ "inputSchema" : {"b":[ true,null],"a":1e1}, "description":"a\u000Ab", "name":"\u00e9\/x" }`,
		`{"n\u0061me":"é/x","description":"a\nb","inputSchema":{"a":10.0,"b":[true,null]}}`,
	} {
		if got, want := definition(t, Tool, other), definition(t, Tool, plain); got != want {
			t.Errorf("%s: got %s, want %s", other, got, want)
		}
	}
}

func TestDefinitionsThatMeanNothingCertainAreRefused(t *testing.T) {
	for _, raw := range []string{
		`{"name":"n","description":"a","description":"b"}`,
		`{"name":"n","description":"a","Description":"b"}`,
		`{"name":"n","inputSchema":{"type":"object","type":"array"}}`,
		`{"name":"n","inputSchema":{"type":"object","typ\u0065":"array"}}`,
		`{"name":"n","annotations":{"title":"a","title":"b"}}`,
		`{"name":"n","description":"\ud800"}`,
		`{"name":"n","inputSchema":{"maximum":1e400}}`,
	} {
		if def, err := itemOf(t, Tool, raw).Definition(); err == nil {
			t.Errorf("%s has the definition %s", raw, def)
		}
	}
}

func TestRefID(t *testing.T) {
	// echo -n '{"name":"n"}' | sha256sum
	const want = "sha256:e5d7b2adb8fb9f9187638229b0a2cf241c5f155867cd31c82cbb20c642e62554"
	if got := RefID([]byte(`{"name":"n"}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The numbers of RFC 8785, appendix B, each written with more digits than it needs.
func TestNumbersAreCanonical(t *testing.T) {
	for _, tt := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		long := strconv.FormatFloat(math.Float64frombits(tt.bits), 'e', 25, 64)
		got := definition(t, Tool, fmt.Sprintf(`{"name":"n","inputSchema":%s}`, long))
		if want := fmt.Sprintf(`{"inputSchema":%s,"name":"n"}`, tt.want); got != want {
			t.Errorf("%s: got %s, want %s", long, got, want)
		}
	}
}

// The objects of RFC 8785, sections 3.2.2 and 3.2.3.
func TestObjectsAreCanonical(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
	} {
		if got, want := definition(t, Tool, `{"name":"n","inputSchema":`+tt.schema+`}`), `{"inputSchema":`+tt.want+`,"name":"n"}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
