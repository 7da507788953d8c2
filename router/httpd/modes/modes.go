package modes

import (
	"cmp"
	"net/http"
	"slices"
	"sync/atomic"

	"toolman/router"
	"toolman/router/httpd/caller"
	"toolman/router/httpd/guard"
	"toolman/router/principal"
	"toolman/router/view"
)

// Options say what clients are shown.
type Options struct {
	Static      bool           // mode = "static"
	MetaTools   view.MetaTools // what clients are offered in the dynamic mode
	Permissions *Permissions   // nil: none are needed
	Toolsets    []string       // names of those of tools.toml, which may be in paths
	Agents      []string       // those with a policy, who may be in paths
	Open        bool           // nobody needs a credential
	ConfigKeys  []string       // of ?config= that are taken
	// Key makes hashes of what clients say of themselves. It is the same as long as their
	// sessions may go on, and random.
	Key [32]byte
	// Note is told, once, what is worth a line in the log; nil: nobody is.
	Note func(text string)
}

// Permissions say where the toolsets stand that clients may use.
type Permissions struct {
	Header bool                // in mcp-toolset-permissions, from trusted proxies
	Agents map[string][]string // or here, by the agent that a credential is for
}

// Modes decide what clients are shown. They do not change, and may be used by many goroutines.
type Modes struct {
	Options
	noted atomic.Bool
}

// New makes Modes.
func New(o Options) *Modes {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return &Modes{Options: o}
}

// What clients are offered that cannot switch anything.
var (
	listTools = &view.MetaTools{NoActivate: true, List: true}
	noTools   = &view.MetaTools{NoActivate: true}
)

// Offers are all of toolman's own tools that any client may be offered: what
// router.Options.MetaTools has to be.
func (m *Modes) Offers() view.MetaTools {
	o := m.MetaTools
	o.List = o.List || m.Static && m.Permissions == nil || len(m.Toolsets) > 0 && m.Permissions == nil
	if m.Static || m.Permissions != nil {
		o = view.MetaTools{NoActivate: true, List: o.List}
	}
	return o
}

// Caller returns whose request it is, which the guard has let in. An error is a refusal.
func (m *Modes) Caller(r *http.Request) (caller.Caller, error) {
	id, ok := guard.IdentityOf(r.Context())
	if !ok {
		return caller.Caller{}, &caller.Denial{Status: http.StatusForbidden, Text: "the request has not passed the guard"}
	}
	c, err := m.at(&id)
	if err != nil {
		return caller.Caller{}, err
	}
	if c.Config, err = m.config(r); err != nil {
		return caller.Caller{}, err
	}
	return caller.Caller{View: m.view(&c, &id), Client: c, Addr: id.Addr}, nil
}

// Lasts reports whether a caller, who is this identity now, still has the rights that it had.
func (m *Modes) Lasts(was *caller.Caller, id guard.Identity) bool {
	id.Addr = was.Addr
	c, err := m.at(&id)
	if err != nil {
		return false
	}
	if c.Config, err = m.taken(was.Client.Config); err != nil {
		return false
	}
	return m.view(&c, &id) == was.View
}

// Client is what an identity is at /mcp.
func (m *Modes) Client(id *guard.Identity) router.Client {
	c := router.Client{Name: id.Name, Principal: id.Principal, Agent: id.Policy, MetaTools: &m.MetaTools}
	switch {
	case m.Permissions != nil:
		c.Static, c.MetaTools = "http.permissions", noTools
		c.Only = m.permitted(id, cmp.Or(id.Agent, id.Policy))
	case m.Static:
		c.Static, c.MetaTools = `http.mode = "static"`, listTools
	}
	if id.Restricted { // also where nothing else needs permissions
		c.Static, c.MetaTools, c.Only = "mcp-toolset-permissions", noTools, both(c.Only, id.Permissions())
	}
	return c
}

// permitted are the toolsets of a client that is this agent, never nil.
func (m *Modes) permitted(id *guard.Identity, agent string) []string {
	if m.Permissions.Header {
		return id.Permissions()
	}
	return append([]string{}, m.Permissions.Agents[agent]...)
}

// both are the names in two lists, never nil. A first one that is nil has all names.
func both(a, b []string) []string {
	names := append([]string{}, b...)
	if a == nil {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(a, name) })
}

// view tells apart what a principal is shown by all that it comes from beside the principal: the configuration
// and what the client says of itself.
func (m *Modes) view(c *router.Client, id *guard.Identity) string {
	view := "agent " + c.Agent
	if id.Terms != "" {
		view += " terms " + id.Terms
	}
	if c.Static != "" {
		view += " static"
	}
	if c.Only != nil {
		view += " only " + principal.Join(c.Only)
	}
	if c.Config != nil {
		view += " config " + m.digest(c.Config)
	}
	return view
}
