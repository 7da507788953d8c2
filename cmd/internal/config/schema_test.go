package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is the schema as another implementation reads it.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("tools.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tools.schema.json") // which also checks it against draft-07's own
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaTables returns the properties of every table of the schema, by its path.
func schemaTables(t *testing.T) map[string]map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	var walk func(path string, schema map[string]any)
	walk = func(path string, schema map[string]any) {
		if schema["$ref"] == "#/definitions/server" {
			schema = root["definitions"].(map[string]any)["server"].(map[string]any)
		}
		for _, of := range []string{"anyOf", "allOf"} {
			all, _ := schema[of].([]any)
			for _, one := range all {
				if one := one.(map[string]any); one["if"] == nil && one["not"] == nil {
					walk(path, one)
				}
			}
		}
		for _, inner := range []string{"items", "additionalProperties"} {
			if schema, ok := schema[inner].(map[string]any); ok {
				walk(path, schema)
			}
		}
		properties, ok := schema["properties"].(map[string]any)
		if !ok {
			return
		}
		all[path] = properties
		for key, schema := range properties {
			walk(strings.TrimPrefix(path+"."+key, "."), schema.(map[string]any))
		}
	}
	walk("", root)
	return all
}

// The schema has the keys that Load knows, each with a description.
func TestSchemaHasEveryKeyThatLoadKnows(t *testing.T) {
	tables := schemaTables(t)
	if len(tables) != 15 {
		t.Fatalf("the schema has %d tables", len(tables))
	}
	for path, properties := range tables {
		for key, property := range properties {
			if property.(map[string]any)["description"] == nil {
				t.Errorf("%s.%s has no description", path, key)
			}
		}
		const unknown = "unlike_any_key"
		text := slotIn(path, unknown).with("1")
		_, err := parse("t.json", "/t.json", []byte(text), testOptions())
		if err == nil {
			t.Fatalf("%s: accepted", text)
		}
		_, list, _ := strings.Cut(err.Error(), "; the keys here are ")
		list, _, _ = strings.Cut(list, "\n")
		if known := slices.Sorted(slices.Values(strings.Split(list, ", "))); !slices.Equal(known, slices.Sorted(maps.Keys(properties))) {
			t.Errorf("table %q: Load knows %q, the schema %q", path, known, slices.Sorted(maps.Keys(properties)))
		}
	}
}

// documentOf is a file as values, or nil when it is no TOML or JSON.
func documentOf(t *testing.T, path string) any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if filepath.Ext(path) == ".toml" {
		text = []byte(strings.ReplaceAll(string(text), "nan", "-1")) // JSON has no NaN
		if err := toml.Unmarshal(text, &v); err != nil {
			return nil
		}
		if text, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
	if err != nil {
		return nil
	}
	return doc
}

// onlyLoadCanTell are the bad fixtures whose keys and kinds are right.
var onlyLoadCanTell = []string{
	"bad-commands.toml", "bad-escape.toml", "bad-glob.toml", "confirm-alone.toml", "http-permissions-header.toml", "session.toml", "bad-references.toml", "duplicate-key.json", "policy-no-names.toml", "task-rules.toml", "unset-variables.toml",
}

func TestSchemaTakesTheGoodFixturesAndRefusesTheBad(t *testing.T) {
	schema := compiled(t)
	files, _ := filepath.Glob(fixtures + "/*.*")
	refused := 0
	for _, path := range files {
		ext := filepath.Ext(path)
		if ext != ".toml" && ext != ".json" {
			continue
		}
		name := filepath.Base(path)
		doc := documentOf(t, path)
		if doc == nil {
			continue // Load's affair
		}
		err := schema.Validate(doc)
		_, noGolden := os.Stat(path + ".err")
		good := errors.Is(noGolden, os.ErrNotExist)
		switch {
		case good && err != nil:
			t.Errorf("%s is a good file, and yet: %v", name, err)
		case !good && err == nil && !slices.Contains(onlyLoadCanTell, name):
			t.Errorf("%s is a bad file, and the schema takes it", name)
		case !good && err != nil:
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("%d bad files refused, something has moved", refused)
	}
	for _, path := range []string{example + "/tools.toml"} {
		if err := schema.Validate(documentOf(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// samples are values of every kind, and some that only some keys take.
var samples = []string{`null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `5`, `1024`, `60001`, `1e12`, `""`, `" "`, `"x"`, `"_"`, `"+"`, `"auto"`, `"all"`, `"legacy"`,
	`"never"`, `"10s"`, `"-10s"`, `"1m30"`, `[]`, `[""]`, `["x"]`, `["activate"]`, `[1]`, `[[]]`, `[{}]`, `{}`, `{"s":"x"}`, `{"s":["x"]}`, `{"s":[""]}`, `{"s":1}`, `{"":"x"}`}

// saidWrong are values that the schema takes for a key and Load does not, because of what they say.
var saidWrong = []string{
	`task_rules.keywords []`,              // there is no service either
	`http.permissions.agents {"s":["x"]}`, // there is no such toolset
	`agent_policies.allowed_servers ["x"]`, `agent_policies.allowed_servers ["activate"]`,
}

// TestSchemaAndReaderAgree puts each sample where each key is and asks both.
func TestSchemaAndReaderAgree(t *testing.T) {
	schema := compiled(t)
	for _, at := range slots(t) {
		for _, value := range samples {
			text := at.with(value)
			_, err := parse("t.json", "/t.json", []byte(text), testOptions())
			doc, jsonErr := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if jsonErr != nil {
				t.Fatalf("%s: %v", text, jsonErr)
			}
			invalid := schema.Validate(doc)
			what := fmt.Sprintf("%s %s", at.path, value)
			switch {
			case err == nil && invalid != nil:
				t.Errorf("%s: the reader takes what the schema refuses: %v", what, invalid)
			case err != nil && strings.Contains(err.Error(), "in agent_policies; the agents are ") || err != nil && strings.Contains(err.Error(), "agent_policies has no agent "):
			case err != nil && invalid == nil && !slices.Contains(saidWrong, what):
				t.Errorf("%s: the schema takes what the reader refuses: %v", what, err)
			}
		}
	}
}

// A slot is where a key stands in a file that is good without it.
type slot struct {
	path, before, after string
}

func (s slot) with(value string) string { return s.before + value + s.after }

// slots returns a slot for each key.
func slots(t *testing.T) []slot {
	t.Helper()
	var all []slot
	for path, properties := range schemaTables(t) {
		for key := range properties {
			all = append(all, slotIn(path, key))
		}
	}
	return all
}

// oauthOf returns what oauth needs besides a key.
func oauthOf(key string) []string {
	if slices.Contains(loginKeys(), key) {
		return []string{`"client_id":"x"`}
	}
	return []string{`"token_url":"https://x/"`, `"client_id":"x"`, `"client_secret":"x"`}
}

// slotIn returns the slot of a key of a table.
func slotIn(path, key string) slot {
	const server = `"servers":[{"namespace":"s","command":"c"}]`
	around := map[string][2]string{
		"":                    {`{`, `}`},
		"servers":             {`{"servers":[{`, `}]}`},
		"mcpServers":          {`{"mcpServers":{"s":{`, `}}}`},
		"mcpServers.oauth":    {`{"mcpServers":{"s":{"url":"https://x/","oauth":{`, `}}}}`},
		"servers.oauth":       {`{"servers":[{"namespace":"s","url":"https://x/","oauth":{`, `}}]}`},
		"toolsets":            {`{"toolsets":{"NAME":{`, `}}}`},
		"agent_policies":      {`{` + server + `,"agent_policies":{"NAME":{`, `}}}`},
		"agent_policies.deny": {`{` + server + `,"agent_policies":{"NAME":{"allowed_servers":["s"],"deny":[{`, `}]}}}`},
		"default_policy":      {`{"default_policy":{`, `}}`},
		"task_rules":          {`{` + server + `,"task_rules":[{`, `}]}`},
		"http":                {`{"http":{`, `}}`},
		"http.jwt":            {`{"http":{"jwt":{`, `}}}`},
		"http.permissions":    {`{"http":{"permissions":{`, `}}}`},
		"http.limits":         {`{"http":{"limits":{`, `}}}`},
		"cluster":             {`{"cluster":{`, `}}`},
	}[path]
	rest := map[string][]string{ // what the table needs besides
		"":                    {server},
		"servers":             {`"namespace":"s"`, transportOf(key)},
		"mcpServers":          {transportOf(key)},
		"mcpServers.oauth":    oauthOf(key),
		"servers.oauth":       oauthOf(key),
		"toolsets":            {`"tools":["x"]`},
		"agent_policies":      {`"allowed_servers":["s"]`},
		"agent_policies.deny": {`"tool":"x"`},
		"task_rules":          {`"keywords":["x"]`, `"tools":{"s":["x"]}`},
		"http":                {`"trusted_proxies":["::1"]`, `"tls_cert":"x"`, `"tls_key":"x"`},
		"cluster":             {`"engine":"valkeys://x"`, `"secrets":["12345678901234567890123456789012"]`, `"listen":"[::1]:8901"`, `"advertise":"x:8901"`},
		"http.permissions":    {`"agents":{}`},
		"http.jwt":            {`"issuer":"x"`, `"audience":"x"`, `"jwks_url":"https://x/"`},
	}[path]
	before := around[0]
	for _, member := range rest {
		if !strings.HasPrefix(member, `"`+key+`"`) {
			before += member + ","
		}
	}
	return slot{strings.TrimPrefix(path+"."+key, "."), fmt.Sprintf("%s%q:", before, key), around[1]}
}

// transportOf gives a server the transport that a key belongs to.
func transportOf(key string) string {
	for _, w := range transports() {
		if (w.key == key || slices.Contains(w.others, key)) && key != "args" { // args wants a program alone
			return fmt.Sprintf("%q:%s", w.key, w.example)
		}
	}
	return `"command":"c"`
}
