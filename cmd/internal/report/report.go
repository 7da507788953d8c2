package report

import (
	"fmt"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A Report is what toolman check found. It is printed as JSON under these names.
type Report struct {
	OK       bool     `json:"ok"`
	Config   string   `json:"config"`
	Why      string   `json:"why"`                       // why this file was chosen
	Mode     string   `json:"activation_mode,omitempty"` // if it is fixed
	Cluster  *cluster `json:"cluster,omitempty"`
	Servers  []Server `json:"servers"`
	Problems []string `json:"problems"` // what makes OK false
	Notes    []string `json:"notes"`    // what does not
	Cost     cost     `json:"cost"`
	// Findings are what package diagnosis says of the servers, and the problems that are of no
	// server.
	Findings []diagnosis.Finding `json:"findings"`
}

// A Server is what toolman check found out about a server.
type Server struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Line      int    `json:"line"`
	About     string `json:"description,omitempty"`
	State     string `json:"state"`
	Problem   string `json:"problem,omitempty"`
	Revision  string `json:"revision,omitempty"`
	Era       string `json:"era,omitempty"`
	Server    string `json:"server,omitempty"`
	Millis    int64  `json:"startup_ms,omitempty"`
	Tools     int    `json:"tools"`
	Bytes     int    `json:"list_bytes"` // of its tools, if all were active
	Resources int    `json:"resources"`
	Templates int    `json:"resource_templates"`
	Prompts   int    `json:"prompts"`
	Junk      int    `json:"junk_lines,omitempty"`
	Stderr    string `json:"stderr,omitempty"`
}

// cost is what the list of tools costs a model.
type cost struct {
	ActiveTools  int `json:"active_tools"`
	AllTools     int `json:"all_tools"`
	ListBytes    int `json:"list_bytes"`
	ListTokens   int `json:"list_tokens_estimate"`
	AllBytes     int `json:"all_bytes"` // if every tool were active
	AllTokens    int `json:"all_tokens_estimate"`
	CatalogBytes int `json:"catalog_bytes"`
}

// New reports on servers that have started.
func New(c *config.Config, r *router.Router) *Report {
	rep := &Report{Config: c.Path, Why: c.Why, Problems: []string{}, Notes: []string{}, Findings: []diagnosis.Finding{}}
	if c.ActivationMode != view.ModeAuto.String() {
		rep.Mode = c.ActivationMode
	}
	for _, w := range c.Warnings {
		rep.note("warning: %s", w)
	}
	statuses := rep.addServers(c, r)
	offered := r.Catalog()
	rep.diagnose(c, statuses, offered)
	for _, col := range offered.Collisions {
		rep.ofServer("%s %s of server %s is not offered: %s has that name already; give one of the servers another namespace",
			col.Loser.Item.Kind, sanitize.Line(col.Loser.Name), col.Loser.Source.Name, col.By)
	}
	rep.addHeld(offered)
	if r.Options.Pins != nil {
		rep.Notes = append(rep.Notes, UnknownMembers(offered, r.Options.Unpinned)...)
	}
	rep.addNames(offered, c.URISeparator)
	list := r.Preview()
	rep.Cost = cost{
		ActiveTools: list.ActiveTools, AllTools: list.AllTools,
		ListBytes: list.Bytes, ListTokens: catalog.Tokens(list.Bytes),
		AllBytes: list.AllBytes, AllTokens: catalog.Tokens(list.AllBytes), CatalogBytes: list.CatalogBytes,
	}
	rep.addPolicy(c, list.Denied, r.UnmatchedRules())
	rep.addCaches(c, offered)
	rep.addToolsets(c, r)
	rep.addUnused(c, r)
	rep.addDangers(c, r)
	for _, text := range r.UnmatchedReadOnly() {
		rep.note("read_only_tools names a tool that its server does not have, %s", sanitize.Line(text))
	}
	rep.addDenials(r)
	if len(rep.Servers) == 0 {
		rep.note("there are no servers in the file; add a [[servers]] table with namespace and command")
	}
	if list.ActiveTools == 0 && rep.Cost.AllTools > 0 {
		rep.note(`no tool is active at start; add patterns to active_toolsets, such as ["*"]`)
	}
	rep.OK = len(rep.Problems) == 0
	return rep
}

// problem adds a problem that is of no server.
func (rep *Report) problem(format string, args ...any) {
	rep.ofServer(format, args...)
	summary, fix := rep.Problems[len(rep.Problems)-1], ""
	if at := strings.LastIndex(summary, "; "); at >= 0 {
		summary, fix = summary[:at], summary[at+2:]
	}
	rep.Findings = append(rep.Findings, diagnosis.Finding{ID: "configuration", Level: diagnosis.Problem, Summary: summary, Fix: fix})
}

// ofServer adds a problem for which there is a finding of a server.
func (rep *Report) ofServer(format string, args ...any) {
	rep.Problems = append(rep.Problems, fmt.Sprintf(format, args...))
}

// diagnose adds what package diagnosis says of the servers, without secrets.
func (rep *Report) diagnose(c *config.Config, statuses []upstream.Status, offered *catalog.Catalog) {
	scrub := redact.NewScrubber(c.Secrets)
	servers := setup.Enabled(c)
	for i, st := range statuses {
		s := diagnosis.Server{Server: servers[i], Status: st, File: c.Path}
		for _, f := range append(diagnosis.Of(&s), diagnosis.Items(&s, offered)...) {
			f.Summary, f.Fix = scrub.Text(f.Summary), scrub.Text(f.Fix)
			rep.Findings = append(rep.Findings, f)
		}
	}
}

func (rep *Report) note(format string, args ...any) {
	rep.Notes = append(rep.Notes, fmt.Sprintf(format, args...))
}

// ServerProblems returns the servers whose items are not all known, and why.
func ServerProblems(c *config.Config, r *router.Router) (servers, problems []string) {
	rep := &Report{Config: c.Path}
	for _, st := range rep.addServers(c, r) {
		if st.State != upstream.PerSession && st.State != upstream.Ready || st.Unread != [mcpwire.Kinds]string{} {
			servers = append(servers, st.Name)
		}
	}
	return servers, rep.Problems
}

func (rep *Report) addServers(c *config.Config, r *router.Router) []upstream.Status {
	servers := setup.Enabled(c)
	all := engine.Statuses(r, c.Secrets)
	for i, st := range all {
		rep.addServer(st, servers[i])
		if login := setup.DescribeLogin(servers[i], c.Agent); login != "" && st.State == upstream.Ready {
			rep.note("server %s: logged in at %s", st.Name, login)
		}
	}
	return all
}

func (rep *Report) addServer(st upstream.Status, of *config.Server) {
	if of.Remote != nil { // its Stderr is the log of the connection
		for text := range strings.Lines(st.Stderr) {
			rep.note("server %s: %s", st.Name, sanitize.Line(strings.TrimSpace(text)))
		}
		st.Stderr = ""
	}
	s := Server{
		Name: st.Name, Namespace: st.Namespace, Line: of.Line, About: of.Description, State: st.StateName(), Problem: st.Problem,
		Revision: sanitize.Line(st.Result.ProtocolVersion), Era: st.Era(), Millis: st.Took.Milliseconds(), Junk: st.Junk,
		Server: sanitize.Line(strings.TrimSpace(st.Result.ServerInfo.Name + " " + st.Result.ServerInfo.Version)),
		Tools:  len(st.Entries[mcpwire.Tool]), Resources: len(st.Entries[mcpwire.Resource]),
		Templates: len(st.Entries[mcpwire.Template]), Prompts: len(st.Entries[mcpwire.Prompt]),
	}
	for _, e := range st.Entries[mcpwire.Tool] {
		s.Bytes += len(e.Item.Raw)
	}
	switch st.State {
	case upstream.Ready:
	case upstream.PerSession:
		if of.ForEachAgent() {
			rep.note("each agent has a login of its own to server %s (per_agent); toolman login --agent NAME says whether that agent has one", st.Name)
			break
		}
		rep.note("toolman serve starts server %s for each session, with the session's own values; its items are unknown here", st.Name)
	default:
		s.Stderr = st.Stderr
		what := "is not ready: " + st.Problem
		if st.Login != "" {
			what = strings.TrimPrefix(st.Problem, "it ")
		}
		rep.ofServer("%s:%d: server %s %s", rep.Config, of.Line, st.Name, what)
	}
	for k, why := range st.Unread {
		if why != "" && st.State == upstream.Ready {
			rep.ofServer("%s:%d: server %s has items that are not known: %s could not be read whole: %s",
				rep.Config, of.Line, st.Name, mcpwire.Kind(k).ListMethod(), sanitize.Line(why))
		}
	}
	if st.Junk > 0 {
		rep.note("server %s wrote %d lines to its standard output that are no messages; they are passed over", st.Name, st.Junk)
	}
	rep.Servers = append(rep.Servers, s)
}

// allReady reports whether the items of every server are known.
func (rep *Report) allReady() bool {
	for _, s := range rep.Servers {
		if s.State != upstream.Ready.String() {
			return false
		}
	}
	return true
}
