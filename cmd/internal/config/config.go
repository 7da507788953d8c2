package config

import (
	"os"
	"path/filepath"
	"time"

	"toolman/router/policy"
)

// A Config is what the file says, with defaults filled in and references replaced.
type Config struct {
	Path           string // absolute
	Format         string // "toml" or "json"
	ActiveToolsets []Active
	Settle         time.Duration   // settle_ms: longest wait for a client's next list after an activation
	CatalogBytes   CatalogBytes    // catalog_bytes
	URISeparator   string          // uri_separator: "_" or "+"
	ActivationMode string          // activation_mode: "auto", "mutate", "call" or "static"
	AlwaysLoad     *bool           // always_load; nil is "auto", by what is known of the client
	MetaTools      []string        // meta_tools: some of "activate", "toolsets" and "manage"
	AuditLog       string          // audit_log, absolute; "" is none
	AuditArguments bool            // audit_arguments
	AllowStaleRefs bool            // allow_stale_refs
	Unpinned       []string        // unpinned: names and globs of what tools.lock is not about
	Toolsets       []Toolset       // by name
	Servers        []Server        // in the file's order, those not enabled included
	Agent          string          // as in Options
	Dangers        *policy.Dangers // dangerous_tools and confirm; nil when there are none
	Rules          *policy.Rules   // exposed_tools, agent_policies and default_policy, with what task_rules add; nil when there are none

	HTTP HTTP // how it is served over HTTP

	// Secrets are the values that came from an env table, from an assignment before a command or from a ${…} reference,
	// each once and none empty. They are never to be traced or logged. Some may be short ("1"): who scrubs by value decides
	// from which length on.
	Secrets []string
}

// An Active is one pattern of active_toolsets.
type Active struct {
	Pattern string
	Toolset string // the toolset of the file that has it and stands there; "" when the pattern itself does
	Line    int    // where that stands
	Task    bool   // in a task rule
}

// A Server is one upstream server.
type Server struct {
	Namespace string   // may be "", and the same as another server's
	Name      string   // what policies call it: name, or else the namespace; "" without either
	Command   string   // as written, references not replaced
	Argv      []string // what to execute; only a shell command's last word is still to be expanded, by that shell
	// Env is what the server's environment has besides what it inherits (see [Server.Inherits]), as KEY=VALUE; a later one wins.
	Env             []string
	InheritEnv      []string       // inherit_env: names and globs; nil: not given
	Refers          Variables      // what its table refers to
	Referred        Variables      // what any table refers to, or http; all servers have the same
	SessionEnv      []SessionValue // and variables that are another for each session
	Dir             string         // absolute; "" is toolman's own working directory
	Remote          *Remote        // where it is, when it is reached over HTTP; nil: it is not
	Socket          string         // the Unix socket that it listens on, absolute; "": it does not. Command is neither's
	StartTimeout    time.Duration  // always positive
	CallTimeout     time.Duration  // 0: none
	MaxCalls        int            // max_concurrent_calls; 0: any number
	MaxCallsLine    int            // where that stands in the file; 0: nowhere
	Era             string         // "auto", "legacy" or "modern"
	Share           string         // "auto", "always" or "never"
	MaxMessageBytes int
	Enabled         bool // a server not enabled has no Argv, Env, Dir, Remote or Socket
	Line            int  // where it begins in the file
}

// CatalogBytes is how much of the catalog a client is shown in the description of toolman_activate: a positive number of
// bytes, [CatalogAuto] or [CatalogAll].
type CatalogBytes int

const (
	CatalogAuto CatalogBytes = 0  // by what is known of the client
	CatalogAll  CatalogBytes = -1 // everything
)

// Options are what reading a configuration needs from outside.
type Options struct {
	LookupEnv func(name string) (string, bool) // for references; nil is os.LookupEnv
	CheckGlob func(pattern string) error       // says why a pattern is no good; nil accepts all

	// HTTP says that the configuration is for serving over HTTP: only then are the references in http.tokens replaced, so
	// that a file may name tokens that are not set where toolman is started on stdio.
	HTTP bool

	Agent   string // whose policies count; "" for none. It has to be one of agent_policies
	Service string // what the agent works on, for task_rules
	Task    string // what it is to do, for task_rules
}

// Load reads the file at path. A file that cannot be read or has problems gives an [*Error]. No servers at all is no problem.
func Load(path string, o Options) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	text, err := read(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return parse(path, abs, text, o)
}

// parse is Load after the reading. Problems show the file as path.
func parse(path, abs string, text []byte, o Options) (*Config, error) {
	d := newDecoder(path, abs, o)
	root, problem := parseText(d.format, text)
	if problem != nil {
		d.fail(problem.Line, problem.Hint, "%s", problem.Msg)
		return nil, d.err()
	}
	c := d.config(root)
	c.Path, c.Format, c.Secrets = abs, d.format, d.secrets
	if err := d.err(); err != nil {
		return nil, err
	}
	return c, nil
}

func newDecoder(path, abs string, o Options) *decoder {
	d := &decoder{file: path, dir: filepath.Dir(abs), format: formatOf(path), Options: o, known: map[string]bool{}}
	if d.LookupEnv == nil {
		d.LookupEnv = os.LookupEnv
	}
	return d
}
