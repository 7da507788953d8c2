package modes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toolman/router"
	"toolman/router/httpd"
	"toolman/router/httpd/guard"
)

// at is what a principal is at /mcp/NAME, or at /mcp when there is no name. A toolset goes
// before an agent of the same name.
func (m *Modes) at(p *guard.Principal, name string) (router.Client, error) {
	c := m.Client(p)
	switch {
	case name == "":
		return c, nil
	case slices.Contains(m.Toolsets, name) && (c.Only == nil || slices.Contains(c.Only, name)):
		if c.Only == nil {
			c.MetaTools = listTools
		}
		c.Only, c.Static = []string{name}, "/mcp/"+name+" is one toolset"
		return c, nil
	case slices.Contains(m.Agents, name) && m.maySpeakAs(p, name):
		return m.as(c, p, name), nil
	}
	return c, m.unknown(p, &c, name)
}

// maySpeakAs reports whether a principal can be an agent: it is that one, or nobody on
// this machine needs a credential.
func (m *Modes) maySpeakAs(p *guard.Principal, agent string) bool {
	return p.Agent == agent || m.Open && p.Addr.IsLoopback()
}

// as is the client as an agent.
func (m *Modes) as(c router.Client, p *guard.Principal, agent string) router.Client {
	c.Agent = agent
	if m.Permissions == nil {
		return c
	}
	c.Only = m.permitted(p, agent)
	if p.Restricted {
		c.Only = both(c.Only, p.Toolsets)
	}
	return c
}

// maxNames bounds the names that an answer has.
const maxNames = 50

// unknown says which names there are for the principal, and not whether there are others.
func (m *Modes) unknown(p *guard.Principal, c *router.Client, name string) error {
	var names []string
	for _, set := range m.Toolsets {
		if c.Only == nil || slices.Contains(c.Only, set) {
			names = append(names, set)
		}
	}
	for _, agent := range m.Agents {
		if m.maySpeakAs(p, agent) && !slices.Contains(names, agent) {
			names = append(names, agent)
		}
	}
	text := fmt.Sprintf("there is no /mcp/%s for you; ", printable(name))
	switch {
	case len(names) == 0:
		text += "use /mcp"
	case len(names) > maxNames:
		text += "besides /mcp there are /mcp/NAME for " + strings.Join(names[:maxNames], ", ") + " and others"
	default:
		text += "besides /mcp there are /mcp/NAME for " + strings.Join(names, ", ")
	}
	return &httpd.Denial{Status: http.StatusNotFound, Text: text}
}
