package modes

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/presence"
	"toolman/router/view"
)

// Options configure what clients see.
type Options struct {
	Static      bool           // mode = "static"
	MetaTools   view.MetaTools // what clients are offered in the dynamic mode
	Permissions *Permissions   // nil: none are needed
	Toolsets    []string       // of tools.toml, which paths may name
	Agents      []string       // with a policy, which paths may name
	Open        bool           // requests need no credential
	// StrictConfig refuses requests whose ?config= has something that does not count.
	StrictConfig bool
	ConfigKeys   []string            // that are accepted in ?config=
	ConfigUses   map[string][]string // names of the servers that use a key; "" for a server without a name
	// Key returns the key of hashes of ?config=. It must not change while sessions continue. Nil: a
	// key that is not secret.
	Key func() [32]byte
	// Note is called once with a message for the log. It may be nil.
	Note func(text string)
}

// Permissions say where to find the toolsets that a client may use.
type Permissions struct {
	Header bool                // in mcp-toolset-permissions, from trusted proxies
	Agents map[string][]string // or here, by the agent of the credential
}

// Modes decide what clients see. They are immutable and safe for use by many goroutines.
type Modes struct {
	Options
	noted atomic.Bool
}

// New makes Modes.
func New(o Options) *Modes {
	if o.Key == nil {
		o.Key = func() (key [32]byte) { return key }
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return &Modes{Options: o}
}

// The tools of clients that cannot activate anything.
var (
	listTools = &view.MetaTools{NoActivate: true, List: true}
	noTools   = &view.MetaTools{NoActivate: true}
)

// Offers returns all of toolman's own tools that any client may get, for router.Options.MetaTools.
func (m *Modes) Offers() view.MetaTools {
	o := m.MetaTools
	o.List = o.List || m.Static && m.Permissions == nil || len(m.Toolsets) > 0 && m.Permissions == nil
	if m.Static || m.Permissions != nil {
		o = view.MetaTools{NoActivate: true, List: o.List}
	}
	return o
}

// Caller returns the caller of a request that has passed the guard. The error is a
// *presence.Denial.
func (m *Modes) Caller(r *http.Request) (presence.Caller, error) {
	id, ok := guard.IdentityOf(r.Context())
	if !ok {
		return presence.Caller{}, &presence.Denial{Status: http.StatusForbidden, Text: "the request has not passed the guard"}
	}
	c, err := m.clientAt(&id)
	if err != nil {
		return presence.Caller{}, err
	}
	config, err := m.config(r)
	if err != nil {
		return presence.Caller{}, err
	}
	c.Config = config.values
	return presence.Caller{View: m.view(&c, &id), Client: c, Addr: id.Addr, Dropped: config.dropped}, nil
}

// Lasts reports whether a caller, which has this identity now, still has the same rights.
func (m *Modes) Lasts(was *presence.Caller, id guard.Identity) bool {
	id.Addr = was.Addr
	c, err := m.clientAt(&id)
	c.Config = m.accepted(was.Client.Config)
	return err == nil && m.view(&c, &id) == was.View
}

// Client returns the client that an identity is at /mcp.
func (m *Modes) Client(id *guard.Identity) client.Info {
	c := client.Info{Name: id.Name, Principal: id.Principal, Agent: id.Policy, MetaTools: &m.MetaTools, Only: m.only(id, cmp.Or(id.Agent, id.Policy))}
	switch {
	case id.Restricted: // also if nothing else needs permissions
		c.Static, c.MetaTools = "mcp-toolset-permissions", noTools
	case m.Permissions != nil:
		c.Static, c.MetaTools = "http.permissions", noTools
	case m.Static:
		c.Static, c.MetaTools = `http.mode = "static"`, listTools
	}
	return c
}

// only returns the toolsets that a client of this agent is limited to; nil: there is no limit.
func (m *Modes) only(id *guard.Identity, agent string) (only []string) {
	switch {
	case m.Permissions == nil:
	case m.Permissions.Header:
		only = id.Permissions()
	default:
		only = append([]string{}, m.Permissions.Agents[agent]...)
	}
	if id.Restricted {
		only = both(only, id.Permissions())
	}
	return only
}

// both returns the names that are in two lists, never nil. If the first is nil, it has all names.
func both(a, b []string) []string {
	names := append([]string{}, b...)
	if a == nil {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(a, name) })
}

// clientAt returns the client that an identity is at its path, /mcp/NAME or /mcp. A toolset takes
// precedence over an agent of the same name.
func (m *Modes) clientAt(id *guard.Identity) (client.Info, error) {
	c, name := m.Client(id), id.Path
	switch {
	case name == "":
		return c, nil
	case slices.Contains(both(c.Only, m.Toolsets), name):
		if c.Only == nil {
			c.MetaTools = listTools
		}
		c.Only, c.Static = []string{name}, "/mcp/"+name+" is one toolset"
		return c, nil
	case slices.Contains(m.Agents, name) && m.mayBe(id, name):
		c.Agent, c.Only = name, m.only(id, name)
		return c, nil
	}
	return c, m.unknownName(id, &c)
}

// NameOf returns the name of a client for the log: of a client without a credential, the agent
// whose policy it has, if any.
func (m *Modes) NameOf(id guard.Identity) string {
	if !id.Anonymous() {
		return id.Name
	}
	c, err := m.clientAt(&id)
	if err != nil {
		return id.Name
	}
	return cmp.Or(c.Agent, id.Name)
}

// mayBe reports whether a client may choose to be an agent: it is that agent, or a local client
// without need of a credential.
func (m *Modes) mayBe(id *guard.Identity, agent string) bool {
	return id.Policy == agent || m.Open && id.Addr.IsLoopback()
}

// maxNames is how many names an answer lists.
const maxNames = 50

// unknownName is the error for a path that the client may not use. It lists the paths that it may
// use, and does not tell whether there are others.
func (m *Modes) unknownName(id *guard.Identity, c *client.Info) error {
	names := both(c.Only, m.Toolsets)
	for _, agent := range m.Agents {
		if m.mayBe(id, agent) && !slices.Contains(names, agent) {
			names = append(names, agent)
		}
	}
	text, others := "use /mcp", ""
	if len(names) > maxNames {
		names, others = names[:maxNames], " and others"
	}
	if len(names) > 0 {
		text = "besides /mcp there are /mcp/NAME for " + strings.Join(names, ", ") + others
	}
	return &presence.Denial{Status: http.StatusNotFound, Text: fmt.Sprintf("there is no /mcp/%s for you; ", sanitize.Cut(id.Path, maxShown)) + text}
}

// view returns the presence.Caller's View: all of what a client sees that does not come from its
// principal, but from the configuration and the client's own settings.
func (m *Modes) view(c *client.Info, id *guard.Identity) string {
	view := "agent " + c.Agent
	if id.Terms != "" {
		view += " terms " + id.Terms
	}
	if c.Static != "" {
		view += " static"
	}
	if c.Only != nil {
		view += " only " + budget.Join(c.Only)
	}
	if c.Config != nil {
		view += " config " + m.digest(c.Config)
	}
	return view
}
