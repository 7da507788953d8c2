package modes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/httpd/caller"
	"toolman/router/httpd/guard"
)

// at is what an identity is on its path, /mcp/NAME or /mcp. A toolset goes before an agent of the same name.
func (m *Modes) at(id *guard.Identity) (router.Client, error) {
	c, name := m.Client(id), id.Path
	switch {
	case name == "":
		return c, nil
	case slices.Contains(m.Toolsets, name) && (c.Only == nil || slices.Contains(c.Only, name)):
		if c.Only == nil {
			c.MetaTools = listTools
		}
		c.Only, c.Static = []string{name}, "/mcp/"+name+" is one toolset"
		return c, nil
	case slices.Contains(m.Agents, name) && m.maySpeakAs(id, name):
		return m.as(c, id, name), nil
	}
	return c, m.unknown(id, &c)
}

// maySpeakAs reports whether a client can be an agent: it is that one, or no client on this machine needs
// a credential.
func (m *Modes) maySpeakAs(id *guard.Identity, agent string) bool {
	return id.Policy == agent || m.Open && id.Addr.IsLoopback()
}

// as is the client as an agent.
func (m *Modes) as(c router.Client, id *guard.Identity, agent string) router.Client {
	c.Agent = agent
	if m.Permissions == nil {
		return c
	}
	c.Only = m.permitted(id, agent)
	if id.Restricted {
		c.Only = both(c.Only, id.Permissions())
	}
	return c
}

// maxNames bounds the names that an answer has.
const maxNames = 50

// unknown says which names there are for the client, and not whether there are others.
func (m *Modes) unknown(id *guard.Identity, c *router.Client) error {
	var names []string
	for _, set := range m.Toolsets {
		if c.Only == nil || slices.Contains(c.Only, set) {
			names = append(names, set)
		}
	}
	for _, agent := range m.Agents {
		if m.maySpeakAs(id, agent) && !slices.Contains(names, agent) {
			names = append(names, agent)
		}
	}
	text := fmt.Sprintf("there is no /mcp/%s for you; ", sanitize.Cut(id.Path, maxShown))
	switch {
	case len(names) == 0:
		text += "use /mcp"
	case len(names) > maxNames:
		text += "besides /mcp there are /mcp/NAME for " + strings.Join(names[:maxNames], ", ") + " and others"
	default:
		text += "besides /mcp there are /mcp/NAME for " + strings.Join(names, ", ")
	}
	return &caller.Denial{Status: http.StatusNotFound, Text: text}
}
