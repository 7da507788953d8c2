package router

import (
	"context"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/breakpoint"
	"toolman/router/catalog"
	"toolman/router/hook"
	"toolman/router/policy"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/upstream"
	"toolman/router/view"
	"toolman/spawn"
)

// Options are the servers of a Router and its settings.
type Options struct {
	Servers []upstream.Server // in the order of the configuration file
	Active  catalog.Globs     // items that are active at start
	// Policy limits the items of clients; nil allows everything.
	Policy *policy.Policy
	// PolicyOf returns the policy of an agent; nil: all have Policy.
	PolicyOf func(agent string) *policy.Policy
	// Dangers are the dangerous tools and what happens to their calls; nil: none.
	Dangers *policy.Dangers
	// ReadOnly are tools that only read, although they do not say so; nil: none.
	ReadOnly *policy.Declared
	// Scrub replaces only the configured secrets in text for people; nil replaces nothing.
	Scrub func(text string) string
	Pins  *catalog.Pins // hold items back whose definition has changed; nil: none
	// Unpinned are items that pins do not hold back, as in active_toolsets.
	Unpinned catalog.Globs
	// Eras are the eras to try first in the handshake, by Upstream.Name. Without an entry it is the
	// era of the client.
	Eras map[string]mcpwire.Era
	// Settle limits how long the reply of toolman_activate waits for the client to list its tools
	// again; 0: it does not wait.
	Settle time.Duration
	// CatalogBytes limits the description of toolman_activate; 0: no limit. metatool.CatalogAuto
	// chooses the limit by client.
	CatalogBytes int
	URISeparator string               // between namespace and URI: "_" or "+"
	Mode         view.Mode            // how clients learn of activated items
	MetaTools    view.MetaTools       // toolman's own tools; no item can have their names
	Toolsets     []toolset.Set        // of tools.toml, sorted by name
	Preloaded    []string             // names of those toolsets of Toolsets that active_toolsets names
	Shelf        toolset.Shelf        // stores saved toolsets; nil: there are none
	AllowStale   bool                 // saved toolsets may use tools that have changed since
	Equipped     *toolset.Set         // active when a session starts; nil: none
	Hooks        *hook.Runner         // runs OnEquip and OnDrift; nil: nothing does
	OnEquip      *hook.Command        // when a toolset is equipped; nil: none
	OnDrift      *hook.Command        // when tools of a saved toolset are not what was saved; nil: none
	AlwaysLoad   *bool                // whether tools ask clients not to defer them; nil: by client
	Recall       bool                 // clients get what servers offered in an earlier run until they are ready
	ClientIdle   time.Duration        // how long the activations of a client without sessions stay; 0: one hour
	Version      string               // of toolman
	Trace        *trace.Writer        // nil: no trace
	Audit        *audit.Writer        // nil: no audit log
	Debug        *breakpoint.Debugger // stops messages; nil: nothing does
	Run          string               // name of this run in the audit log
	Replica      string               // ID of this replica of a cluster; "": there is none
	// Signalled is done when a signal asks toolman to end. Servers then have less time to end. It
	// may be nil.
	Signalled context.Context
}

// ladder returns how long a server may take to end now.
func (o *Options) ladder() spawn.Ladder {
	if o.Signalled != nil && o.Signalled.Err() != nil {
		return shortLadder
	}
	return normalLadder
}

// How long a server may take to end after the end of its input, and then after SIGTERM. After a
// signal toolman and all servers must be gone within 400 ms. At the end of input a server has more
// time to save its state. Some clients kill toolman 350 ms after that; then the reaper ends the
// servers.
var (
	normalLadder = spawn.Ladder{AfterEOF: 200 * time.Millisecond, AfterTerm: 120 * time.Millisecond}
	shortLadder  = spawn.Ladder{AfterEOF: 80 * time.Millisecond, AfterTerm: 120 * time.Millisecond}
)

// A Session is one connected client.
type Session = session.Session

// A Tool is a tool that a session may use.
type Tool = session.Tool
