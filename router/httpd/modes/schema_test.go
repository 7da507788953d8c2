package modes

import (
	"errors"
	"strings"
	"testing"

	"toolman/router/httpd/guard"
	"toolman/router/httpd/presence"
)

func TestTheSchemaOfASessionsConfiguration(t *testing.T) {
	options := Options{ConfigKeys: []string{"B", "A", "SPARE", "HIDDEN"}, Agents: []string{"reader"},
		ConfigUses: map[string][]string{"A": {"tracker", ""}, "B": {"tracker", "payroll"}, "HIDDEN": {"payroll"}}}
	knows := func(agent, server string) bool { return agent == "reader" && server != "payroll" }
	schema := func(o Options, id guard.Identity) string {
		text, err := New(o).ConfigSchema(id, knows)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const head = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Configuration of a session","description":"`
	member := func(key, description string) string {
		return `"` + key + `":{"description":"` + description + `","type":["string","number","boolean","object","array","null"],"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$"}`
	}
	const spare = "No server uses it."
	if got, want := schema(options, reader), head+configIs+`","type":"object","properties":{`+
		member("A", "The servers tracker, without a name need it. A session without it does not have them.")+","+
		member("B", "The server tracker needs it. A session without it has no such server.")+","+
		member("SPARE", spare)+`},"additionalProperties":false}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := schema(options, nobody); strings.Contains(got, "tracker") || strings.Contains(got, `"A"`) || !strings.Contains(got, `"SPARE"`) {
		t.Errorf("a client that may not know of the servers gets %s", got)
	}
	static, permitted := options, options
	static.Static, permitted.Permissions = true, &Permissions{}
	for _, o := range []Options{static, permitted} {
		if got := schema(o, reader); got != head+configIgnored+`","type":"object","properties":{},"additionalProperties":false}`+"\n" {
			t.Errorf("where all have the same servers: %s", got)
		}
	}
	other := reader
	other.Path = "writer"
	_, err := New(options).ConfigSchema(other, knows)
	if d, ok := errors.AsType[*presence.Denial](err); !ok || d.Status != 404 {
		t.Errorf("as another agent: %v", err)
	}
}
