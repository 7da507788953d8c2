package mcpwire

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

func TestParseFilter(t *testing.T) {
	tests := []struct {
		name, filter string
		want         Filter
	}{
		{"nothing", `{}`, Filter{}},
		{"all", `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:\u002f","b:c"]}`,
			Filter{true, true, true, []string{"a:/", "b:c"}}},
		{"what is switched off", `{"toolsListChanged":false,"resourceSubscriptions":[ ]}`, Filter{}},
		{"what is not known", `{"taskIds":["1"],"rootsListChanged":true,"promptsListChanged":true,"x":{}}`, Filter{PromptsListChanged: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseFilter(request(t, Listen, `{"_meta":{`+bareClaim+`},"notifications":`+tt.filter+`}`))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestParseFilterRefuses(t *testing.T) {
	long := strings.Repeat("x", maxListenURIBytes/2)
	for name, tt := range map[string]struct{ params, says string }{
		"no filter":           {`{}`, "params.notifications must be an object"},
		"a filter of null":    {`{"notifications":null}`, "params.notifications must be an object"},
		"a list":              {`{"notifications":["toolsListChanged"]}`, "params.notifications must be an object"},
		"two filters":         {`{"notifications":{},"notifications":{}}`, "twice"},
		"a flag twice":        {`{"notifications":{"toolsListChanged":true,"toolsListChanged":false}}`, "twice"},
		"a look-alike":        {`{"notifications":{"ToolsListChanged":true}}`, "almost like toolsListChanged"},
		"a flag that is 1":    {`{"notifications":{"toolsListChanged":1}}`, "toolsListChanged must be true or false"},
		"a flag that is null": {`{"notifications":{"promptsListChanged":null}}`, "promptsListChanged must be true or false"},
		"one URI":             {`{"notifications":{"resourceSubscriptions":"a:b"}}`, "must be a list of URIs"},
		"a URI that is null":  {`{"notifications":{"resourceSubscriptions":["a:b",null]}}`, "must be a list of URIs"},
		"too many URIs":       {`{"notifications":{"resourceSubscriptions":["a"` + strings.Repeat(`,"a"`, maxListenURIs) + `]}}`, "takes 10000 URIs"},
		"too long URIs":       {`{"notifications":{"resourceSubscriptions":["` + long + `","` + long + `"]}}`, "1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFilter(request(t, Listen, tt.params))
			if why, ok := errors.AsType[*Refusal](err); !ok || why.Code != -32602 || !strings.Contains(why.Message, tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestFilterAppend(t *testing.T) {
	for want, f := range map[string]Filter{
		`{}`:                          {},
		`{"promptsListChanged":true}`: {PromptsListChanged: true},
		`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a\"","b"]}`: {true, true, true, []string{`a"`, "b"}},
		`{"resourceSubscriptions":["a"]}`: {ResourceSubscriptions: []string{"a"}},
	} {
		if got := string(f.Append(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f := Filter{ToolsListChanged: true}
	if got, want := string(f.AppendListen(nil, NewClaim(nil, nil, ""))), `{"_meta":{`+bareClaim+`},"notifications":{"toolsListChanged":true}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFilterWants(t *testing.T) {
	f := Filter{ToolsListChanged: true, ResourcesListChanged: true}
	for method, want := range map[Method]bool{ToolsListChanged: true, PromptsListChanged: false, ResourcesListChanged: true, ResourceUpdated: false, RootsListChanged: false} {
		if f.Wants(method) != want {
			t.Errorf("%s: want %v", method, want)
		}
	}
}

// FuzzParseFilter checks that a filter that was read is read the same from what toolman
// acknowledges.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"toolsListChanged":true}`, `{"resourceSubscriptions":["a","\ud800",""],"x":null}`, `{"promptsListChanged":false,"resourcesListChanged" : true}`,
		`{"tool\u0073ListChanged":true}`, `[]`, `{"resourceSubscriptions":[[]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, filter []byte) {
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":`+string(filter)+`}}`), &m) != nil {
			return
		}
		read, err := ParseFilter(&m)
		if err != nil {
			return
		}
		ack := rescan(t, string(AppendAcknowledged(nil, []byte("1"), &read)))
		again, err := ParseFilter(ack)
		if err != nil || !reflect.DeepEqual(read, again) {
			t.Errorf("%s: read %+v, acknowledged %s, %v", filter, read, ack.Frame, err)
		}
	})
}
