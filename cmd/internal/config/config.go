package config

import (
	"cmp"
	_ "embed" // the schema
	"maps"
	"os"
	"path/filepath"
	"time"

	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/config/cluster"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/router/policy"
)

// A Config is the content of the file, with defaults filled in and references replaced.
type Config struct {
	Path           string // absolute; or the name of a configuration that is in no file
	Beside         string // Path, or tools.toml in the folder that stands for that of the file: pins and toolsets are beside it
	Why            string // why this file was chosen; set by package setup
	ActiveToolsets []Active
	Settle         time.Duration       // settle_ms
	CatalogBytes   int                 // catalog_bytes: a positive number, CatalogAuto or CatalogAll
	URISeparator   string              // uri_separator: "_" or "+"
	ActivationMode string              // activation_mode: "auto", "mutate", "call" or "static"
	AlwaysLoad     *bool               // always_load; nil is "auto"
	MetaTools      []string            // meta_tools: some of "activate", "toolsets", "manage", "search" and "login"; or SearchIfCut
	AuditLog       string              // audit_log, absolute; "" is none
	AuditArguments bool                // audit_arguments
	AllowStaleRefs bool                // allow_stale_refs
	Unpinned       []string            // unpinned: names and globs
	Toolsets       []Toolset           // by name
	OnEquip        *Hook               // on_equip; nil is none
	OnDrift        *Hook               // on_drift; nil is none
	Servers        []Server            // in the file's order, including those that are not enabled
	Agent          string              // whose policies apply: that of Options, or else agent
	Served         bool                // it is for serving over HTTP, where clients may be several agents
	WithholdEnv    []string            // withhold_env
	Dangers        *policy.DangerRules // dangerous_tools and confirm; nil if there are none
	Rules          *policy.Rules       // exposed_tools, agent_policies and default_policy, with what task_rules add; nil if there are none
	HTTP           HTTP
	Cluster        *cluster.Settings // nil: there is no such table, or Options do not want it
	Warnings       []source.Problem  // what is allowed, and probably not meant

	// Secrets are the values that came from references and headers, and those with a name that says
	// so (see package reference), each once and none empty. They must never be traced or logged.
	// Some may be short ("1").
	Secrets []string
}

// An Active is one pattern of active_toolsets.
type Active struct {
	Pattern string
	Toolset string // the toolset of the file that has the pattern; "" if active_toolsets has it itself
	Line    int    // in active_toolsets
	Task    bool   // in a task rule
	// Without active_toolsets, everything may be active because of another key; this is its name.
	// The Line is then that of the key.
	Because string
}

// Values of CatalogBytes, as in the options of a router.
const (
	CatalogAuto = -1 // depends on the client
	CatalogAll  = 0  // no bound
)

// Options are what reading a configuration needs from outside.
type Options struct {
	LookupEnv func(name string) (string, bool) // for references; nil is os.LookupEnv

	// HTTP says that the configuration is for serving over HTTP. Only then are the references in
	// http.tokens replaced: a file may name tokens that are not set where toolman is started on
	// stdio.
	HTTP bool

	// Cluster says that the references in cluster are replaced, as HTTP does.
	Cluster bool

	// KeepReferences says that the configuration is only read, not used: no reference is replaced,
	// so no variable and no file that it refers to has to be there. Servers are as if they were not
	// enabled, and AuditLog is "".
	KeepReferences bool

	Agent   string // whose policies apply; "" for the file's own. It has to be in agent_policies
	Service string // what the agent works on, for task_rules
	Task    string // the task, for task_rules
}

// Load reads the file at path. A file that cannot be read or has problems gives a [*source.Error].
// A file without servers is fine.
func Load(path string, o Options) (*Config, error) { return LoadFrom(source.Source{Path: path}, o) }

// LoadFrom is [Load] for a configuration that may be in no file.
func LoadFrom(s source.Source, o Options) (*Config, error) {
	doc, err := s.Read()
	if err != nil {
		return nil, err
	}
	return decode(s, doc, o)
}

// Tree returns a configuration as a tree, with all its servers in one array under servers, in the
// order of Config.Servers.
func Tree(s source.Source) (source.Node, error) {
	doc, err := s.Read()
	return byname.Array(&source.Problems{}, doc.Root, nil), err
}

func decode(s source.Source, doc source.Document, o Options) (*Config, error) {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	path, beside := s.Path, filepath.Join(s.Dir, "tools.toml")
	if !s.Virtual() {
		abs, err := filepath.Abs(s.Path)
		if err != nil {
			return nil, err
		}
		path, beside = abs, abs
	}
	d := &decoder{options: o, Resolver: &reference.Resolver{
		Problems: &source.Problems{File: s.Path, Format: doc.Format}, Dir: filepath.Dir(beside), LookupEnv: o.LookupEnv}}
	c := d.config(doc.Root)
	c.Path, c.Beside, c.Secrets, c.Warnings = path, beside, d.Secrets(), d.Warnings()
	if err := d.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// A decoder turns the tree of a file into a Config and collects problems on the way.
type decoder struct {
	*reference.Resolver
	options Options
	sets    []Toolset           // of the file, read first
	ofHTTP  reference.Variables // that http, cluster, on_equip and on_drift refer to

	allUncached bool // cache is false at the top level
}

// scope returns the scope of the value of a key, which messages call name.
func (d *decoder) scope(t table.Table, key, name string) reference.Scope {
	return reference.Scope{Resolver: d.Resolver, Line: t.LineOf(key), Key: name}
}

// config decodes the whole file.
func (d *decoder) config(root source.Node) *Config {
	root = byname.Array(d.Problems, root, serverKeys())
	t := table.New(d.Problems, root, "at the top level", "active_toolsets", "settle_ms", "catalog_bytes", "uri_separator",
		"activation_mode", "always_load", "meta_tools", "allow_stale_refs", "cache", "unpinned", "toolsets", "default_toolsets", "on_equip", "on_drift", "servers", byname.MCPServers,
		"exposed_tools", "agent", "agent_policies", "default_policy", "task_rules", "dangerous_tools", "confirm", "withhold_env", "audit_log", "audit_arguments", "http", "cluster", "$schema")
	servers := t.Tables("servers", "server", `"namespace": …, "command": …`)
	d.sets, d.ofHTTP = toolsets(t), reference.VariablesIn(t.At("http"))
	maps.Copy(d.ofHTTP, cluster.Variables(t))
	maps.Copy(d.ofHTTP, reference.VariablesIn(t.At("on_equip")))
	maps.Copy(d.ofHTTP, reference.VariablesIn(t.At("on_drift")))
	if t.Bool("default_toolsets", false) {
		d.sets = withDefaults(d.sets, servers)
	}
	d.allUncached = !t.Bool("cache", true)
	d.options.Agent = cmp.Or(d.options.Agent, t.Filled("agent", `"reader"`, "name one of agent_policies, or leave it out"))
	c := &Config{
		ActiveToolsets: activeToolsets(t, d.sets, false),
		Settle:         time.Duration(t.Int("settle_ms", 1000, 0, 60_000)) * time.Millisecond,
		CatalogBytes:   catalogBytes(t),
		URISeparator:   t.Choice("uri_separator", "_", "+"),
		ActivationMode: t.Choice("activation_mode", "auto", "mutate", "call", "static"),
		AlwaysLoad:     t.AutoBool("always_load"),
		MetaTools:      metaTools(t),
		AllowStaleRefs: t.Bool("allow_stale_refs", false),
		Unpinned:       table.Texts(t.Globs("unpinned", `["notes_note://*"]`)),
		Toolsets:       d.sets,
		Agent:          d.options.Agent,
		Served:         d.options.HTTP,
		WithholdEnv:    withholdEnv(t),
		Dangers:        d.dangers(t),
		HTTP:           d.http(t, agentNames(t)),
		Cluster:        cluster.Read(t, d.Resolver, (d.options.HTTP || d.options.Cluster) && !d.options.KeepReferences),
	}
	d.SessionKeys = c.HTTP.SessionConfigKeys
	for _, n := range servers {
		c.Servers = append(c.Servers, d.server(n))
	}
	noteReferences(c.Servers, servers, d.ofHTTP, c.WithholdEnv)
	c.OnEquip, c.OnDrift = readHook(d, t, "on_equip", c), readHook(d, t, "on_drift", c)
	d.policies(t, c)
	if !t.Has("active_toolsets") {
		c.ActiveToolsets = append(activeWithout(t, c), c.ActiveToolsets...)
	}
	c.AuditLog, c.AuditArguments = d.auditLog(t)
	return c
}

// catalogBytes reads "auto", which is the default, "all" or a positive number.
func catalogBytes(t table.Table) int {
	word, number := t.Words("catalog_bytes", 1<<31-1, `"auto", "all" or a number of bytes`, `write "auto", "all" or a positive number of bytes`, "auto", "all")
	if word != "all" && number == 0 {
		return CatalogAuto
	}
	return int(number)
}

// auditLog reads audit_log, absolute, and audit_arguments. "" is no log.
func (d *decoder) auditLog(t table.Table) (path string, arguments bool) {
	const key, example = "audit_log", `"audit.jsonl"`
	arguments = t.Bool("audit_arguments", false)
	t.Needs("audit_arguments", key, example)
	if written := t.Filled(key, example, "name a file, or leave it out for no audit log"); written != "" && !d.options.KeepReferences {
		path = d.scope(t, key, key).Path(written, "name a file, or leave it out")
	}
	return path, arguments
}

// dangers decodes dangerous_tools and confirm.
func (d *decoder) dangers(t table.Table) *policy.DangerRules {
	const example = `["fs_delete*"]`
	confirm := t.Choice("confirm", string(policy.Elicit), string(policy.Deny), string(policy.Allow))
	tools := t.Globs("dangerous_tools", example)
	t.Needs("confirm", "dangerous_tools", example)
	if len(tools) == 0 {
		return nil
	}
	return &policy.DangerRules{File: filepath.Base(d.File), Confirm: policy.Confirm(confirm), Tools: tools}
}

//go:embed tools.schema.json
var schema []byte

// Schema returns the JSON Schema of tools.toml, indented. It uses the keywords of draft-07, which
// editors' TOML plugins know. Load refuses every file that it refuses; only Load checks globs,
// references and names of servers.
func Schema() []byte { return schema }
