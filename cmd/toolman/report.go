package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/view"
)

// bytesPerToken is what tool definitions of real servers were measured to take.
const bytesPerToken = 4.3

// A report is what `toolman check` found. It is printed as JSON under these names.
type report struct {
	OK       bool           `json:"ok"`
	Config   string         `json:"config"`
	Why      string         `json:"why"`                       // this file and no other
	Mode     string         `json:"activation_mode,omitempty"` // when it is fixed
	Servers  []serverReport `json:"servers"`
	Problems []string       `json:"problems"` // what makes ok false
	Notes    []string       `json:"notes"`    // what does not
	Cost     cost           `json:"cost"`
}

type serverReport struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Line      int    `json:"line"`
	State     string `json:"state"`
	Problem   string `json:"problem,omitempty"`
	Revision  string `json:"revision,omitempty"`
	Era       string `json:"era,omitempty"`
	Server    string `json:"server,omitempty"`
	Millis    int64  `json:"startup_ms,omitempty"`
	Tools     int    `json:"tools"`
	Resources int    `json:"resources"`
	Templates int    `json:"resource_templates"`
	Prompts   int    `json:"prompts"`
	Junk      int    `json:"junk_lines,omitempty"`
	Stderr    string `json:"stderr,omitempty"`
}

// cost is what a model pays for the list of tools.
type cost struct {
	ActiveTools  int `json:"active_tools"`
	AllTools     int `json:"all_tools"`
	ListBytes    int `json:"list_bytes"`
	ListTokens   int `json:"list_tokens_estimate"`
	AllBytes     int `json:"all_bytes"` // if every tool were active
	AllTokens    int `json:"all_tokens_estimate"`
	CatalogBytes int `json:"catalog_bytes"`
}

func newReport(at config.Location, c *config.Config, r *router.Router) *report {
	rep := &report{Config: at.Path, Why: at.Why, Problems: []string{}, Notes: []string{}}
	if modeOf(c.ActivationMode) != view.ModeAuto {
		rep.Mode = c.ActivationMode
	}
	servers := enabledServers(c)
	for i, st := range scrubbed(r, c.Secrets) {
		rep.addServer(st, servers[i])
	}
	catalog := r.Catalog()
	for _, col := range catalog.Collisions {
		rep.Problems = append(rep.Problems, fmt.Sprintf("%s %s of server %s is not offered: %s has that name already; give one of the servers another namespace",
			col.Loser.Item.Kind, sanitize.Line(col.Loser.Name), col.Loser.Source.Name, col.By))
	}
	rep.addHeld(catalog)
	if r.Options.Pins != nil {
		rep.Notes = append(rep.Notes, unknownMembers(catalog, r.Options.Unpinned)...)
	}
	rep.addNames(catalog, c.URISeparator)
	list := r.Preview()
	rep.Cost = cost{
		ActiveTools: list.ActiveTools, AllTools: list.AllTools,
		ListBytes: list.Bytes, ListTokens: tokens(list.Bytes),
		AllBytes: list.AllBytes, AllTokens: tokens(list.AllBytes), CatalogBytes: list.CatalogBytes,
	}
	rep.addPolicy(c, list.Denied, r.IdleRules())
	rep.addToolsets(c, r)
	rep.addIdle(c, r)
	rep.addDangers(c, r)
	if len(rep.Servers) == 0 {
		rep.Notes = append(rep.Notes, "there are no servers in the file; add a [[servers]] table with namespace and command")
	}
	if list.ActiveTools == 0 && rep.Cost.AllTools > 0 {
		rep.Notes = append(rep.Notes, `no tool is active at start; add patterns to active_toolsets, such as ["*"]`)
	}
	rep.OK = len(rep.Problems) == 0
	return rep
}

// addPolicy notes what policies do to the lists.
func (rep *report) addPolicy(c *config.Config, denied int, idle []string) {
	if c.Rules == nil {
		return
	}
	who := "agent " + sanitize.Line(c.Agent)
	if c.Agent == "" {
		who = "clients that no --agent is given for"
	}
	if denied > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("policies keep %d of all tools, resources and prompts from %s; toolman explain NAME says why", denied, who))
	}
	for _, text := range idle {
		rep.Notes = append(rep.Notes, "a policy names what its server does not have, "+sanitize.Line(text))
	}
}

// scrubbed returns what is known of the servers, without secrets.
func scrubbed(r *router.Router, secrets []string) []router.Status {
	scrub := trace.NewScrubber(secrets)
	all := r.Upstreams()
	for i := range all {
		all[i].Problem, all[i].Stderr = scrub.Text(all[i].Problem), scrub.Text(all[i].Stderr)
		for k, why := range all[i].Unread {
			all[i].Unread[k] = scrub.Text(why)
		}
	}
	return all
}

func tokens(bytes int) int { return int(float64(bytes) / bytesPerToken) }

func enabledServers(c *config.Config) []*config.Server {
	var all []*config.Server
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled {
			all = append(all, s)
		}
	}
	return all
}

func (rep *report) addServer(st router.Status, of *config.Server) {
	line := of.Line
	if of.Remote != nil { // these are no last words
		for text := range strings.Lines(st.Stderr) {
			rep.Notes = append(rep.Notes, "server "+st.Name+": "+sanitize.Line(strings.TrimSpace(text)))
		}
		st.Stderr = ""
	}
	s := serverReport{
		Name: st.Name, Namespace: st.Namespace, Line: line, State: st.State.String(), Problem: st.Problem,
		Revision: sanitize.Line(st.Result.ProtocolVersion), Era: st.Era(), Millis: st.Took.Milliseconds(), Junk: st.Junk,
		Server: sanitize.Line(strings.TrimSpace(st.Result.ServerInfo.Name + " " + st.Result.ServerInfo.Version)),
		Tools:  len(st.Entries[mcpwire.Tool]), Resources: len(st.Entries[mcpwire.Resource]),
		Templates: len(st.Entries[mcpwire.Template]), Prompts: len(st.Entries[mcpwire.Prompt]),
	}
	switch st.State {
	case router.Ready:
	case router.Apart:
		rep.Notes = append(rep.Notes, fmt.Sprintf("server %s is started for each session of toolman serve, with what that says of itself; what it has is not known here", st.Name))
	default:
		s.Stderr = st.Stderr
		rep.Problems = append(rep.Problems, fmt.Sprintf("%s:%d: server %s is not ready: %s", rep.Config, line, st.Name, st.Problem))
	}
	for k, why := range st.Unread {
		if why != "" && st.State == router.Ready {
			rep.Problems = append(rep.Problems, fmt.Sprintf("%s:%d: server %s has items that are not known: %s could not be read whole: %s",
				rep.Config, line, st.Name, mcpwire.Kind(k).ListMethod(), sanitize.Line(why)))
		}
	}
	if st.Junk > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("server %s wrote %d lines to its standard output that are no messages; they are passed over", st.Name, st.Junk))
	}
	rep.Servers = append(rep.Servers, s)
}

// maxHeld is how many items of a server that are held back, and dangerous tools, are named.
const maxHeld = 20

// addHeld names what is held back by its pin, server by server.
func (rep *report) addHeld(offered *catalog.Catalog) {
	counts := map[*catalog.Source]int{}
	lines := map[*catalog.Source][]string{}
	added := map[*catalog.Source]bool{} // resources, which many a server adds as it runs
	var servers []*catalog.Source
	for _, e := range offered.Held() {
		u := e.Source
		if counts[u] == 0 {
			servers = append(servers, u)
		}
		added[u] = added[u] || e.Hold == catalog.NotPinned && e.Item.Kind == mcpwire.Resource
		if counts[u]++; counts[u] <= maxHeld {
			lines[u] = append(lines[u], fmt.Sprintf("%s %s: %s", e.Item.Kind, sanitize.Line(e.Name), e.Hold))
		}
	}
	for _, u := range servers {
		if more := counts[u] - maxHeld; more > 0 {
			lines[u] = append(lines[u], fmt.Sprintf("and %d more", more))
		}
		if added[u] {
			lines[u] = append(lines[u], "resources that a server adds as it runs can be named in unpinned, in tools.toml")
		}
		rep.Problems = append(rep.Problems, fmt.Sprintf("%s held back of server %s; toolman lock --diff shows what has changed, toolman lock --accept NAME... takes it:\n    %s",
			are(counts[u], "item"), u.Name, strings.Join(lines[u], "\n    ")))
	}
}

// addNames notes names that clients may change or refuse.
func (rep *report) addNames(offered *catalog.Catalog, separator string) {
	for _, k := range []mcpwire.Kind{mcpwire.Tool, mcpwire.Prompt} {
		for _, e := range offered.Entries(k) {
			if e.Shortened() {
				rep.Notes = append(rep.Notes, fmt.Sprintf("%s %s of server %s is offered as %s: clients take 64 characters of A-Z a-z 0-9 _ . -",
					k, sanitize.Line(e.Item.Name), e.Source.Name, e.Name))
			} else if k == mcpwire.Tool && len(clientPrefix+e.Name) > 64 {
				rep.Notes = append(rep.Notes, fmt.Sprintf("tool %s is longer than 64 characters with the prefix %s that some clients add; a shorter namespace helps", e.Name, clientPrefix))
			}
		}
	}
	if separator != "_" {
		return
	}
	for _, e := range offered.Entries(mcpwire.Resource) {
		if e.Source.Namespace != "" {
			rep.Notes = append(rep.Notes, `resources are offered with "_" behind the namespace, which no URI scheme may hold; clients that check URIs need uri_separator = "+"`)
			return
		}
	}
}

// clientPrefix is what Claude Code puts before the names of a server called toolman.
const clientPrefix = "mcp__toolman__"

func (rep *report) print(out io.Writer) error {
	fmt.Fprintf(out, "%s (%s)\n", rep.Config, rep.Why)
	if rep.Mode != "" {
		fmt.Fprintf(out, "activation_mode is %q for every client\n", rep.Mode)
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  SERVER\tSTATE\tREVISION\tERA\tSTART\tTOOLS\tRESOURCES\tTEMPLATES\tPROMPTS\tPROGRAM")
	for _, s := range rep.Servers {
		mark := " "
		if s.State != router.Ready.String() && s.State != router.Apart.String() {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", mark, s.Name, s.State, dash(s.Revision), dash(s.Era),
			seconds(time.Duration(s.Millis)*time.Millisecond), s.Tools, s.Resources, s.Templates, s.Prompts, dash(s.Server))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range rep.Problems {
		fmt.Fprintf(out, "\n! %s", p)
	}
	for _, s := range rep.Servers {
		if s.Stderr != "" {
			fmt.Fprintf(out, "\n! the last that server %s wrote to its standard error:\n    %s", s.Name, strings.ReplaceAll(s.Stderr, "\n", "\n    "))
		}
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(out, "\n- %s", n)
	}
	_, err := fmt.Fprintf(out, "\n\n%d of %d tools are active: the list costs a model %d bytes, about %d tokens (all tools: %d bytes, about %d tokens).\n",
		rep.Cost.ActiveTools, rep.Cost.AllTools, rep.Cost.ListBytes, rep.Cost.ListTokens, rep.Cost.AllBytes, rep.Cost.AllTokens)
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
