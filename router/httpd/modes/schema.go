package modes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/httpd/guard"
)

// A configSchema is the JSON Schema of the object in ?config=.
type configSchema struct {
	Schema      string                  `json:"$schema"`
	Title       string                  `json:"title"`
	Description string                  `json:"description"`
	Type        string                  `json:"type"`
	Properties  map[string]configMember `json:"properties"`
	Additional  bool                    `json:"additionalProperties"`
}

type configMember struct {
	Description string   `json:"description"`
	Type        []string `json:"type"`
	Pattern     string   `json:"pattern"`
}

// configTypes are the types of values. Those that are no strings count as their JSON.
var configTypes = []string{"string", "number", "boolean", "object", "array", "null"}

const (
	noControls    = `^[^\u0000-\u001F\u007F-\u009F]*$`
	configIs      = "The query parameter config of /mcp has the base64 of such an object. Keys can be left out."
	configIgnored = "The query parameter config of /mcp is ignored, because all clients have the same servers."
)

// ConfigSchema returns the JSON Schema of the configuration that a client may send in ?config=.
// knows reports whether an agent may know of a server. Keys that only other servers use are left
// out. The error is a *presence.Denial.
func (m *Modes) ConfigSchema(id guard.Identity, knows func(agent, server string) bool) ([]byte, error) {
	c, err := m.clientAt(&id)
	if err != nil {
		return nil, err
	}
	s := configSchema{Schema: "https://json-schema.org/draft/2020-12/schema", Title: "Configuration of a session", Description: configIgnored,
		Type: "object", Properties: map[string]configMember{}}
	if !m.sameForAll() {
		s.Description = configIs
		for _, key := range m.ConfigKeys {
			uses := m.ConfigUses[key]
			known := slices.DeleteFunc(slices.Clone(uses), func(server string) bool { return !knows(c.Agent, server) })
			if len(uses) == 0 || len(known) > 0 {
				s.Properties[key] = configMember{useText(known), configTypes, noControls}
			}
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err = enc.Encode(s)
	return text.Bytes(), err
}

// useText describes a key for the servers that need it.
func useText(servers []string) string {
	switch len(servers) {
	case 0:
		return "No server uses it."
	case 1:
		return "The server " + shownServer(servers[0]) + " needs it. A session without it has no such server."
	}
	var names []string
	for _, server := range servers {
		names = append(names, shownServer(server))
	}
	return "The servers " + strings.Join(names, ", ") + " need it. A session without it does not have them."
}

func shownServer(name string) string { return cmp.Or(sanitize.Line(name), "without a name") }
