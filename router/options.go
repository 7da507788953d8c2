package router

import (
	"context"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/upstream"
	"toolman/router/view"
	"toolman/spawn"
)

// Options say what a Router serves and how.
type Options struct {
	Servers []upstream.Server // in the order of the configuration file
	Active  catalog.Globs     // what is active at start
	// Policy says what clients may have; nil allows everything.
	Policy *policy.Policy
	// PolicyOf says what an agent may have; nil: the same.
	PolicyOf func(agent string) *policy.Policy
	// Dangers say which tools are dangerous, and what becomes of their calls; nil: none are.
	Dangers *policy.Dangers
	// Scrub replaces the configured secrets, and nothing else, in what a person is shown; nil replaces nothing.
	Scrub func(text string) string
	Pins  *catalog.Pins // what holds items back; nil holds nothing
	// Unpinned are items that no pin holds back, by the names of active_toolsets.
	Unpinned catalog.Globs
	// Eras are those in which servers are spoken to first, by the name that their Upstream
	// has; others in the client's.
	Eras map[string]mcpwire.Era
	// Settle bounds how long the reply of toolman_activate waits for the client
	// to list the tools again; 0 does not wait.
	Settle time.Duration
	// CatalogBytes bounds the description of toolman_activate; 0 means no bound.
	// metatool.CatalogAuto chooses by client.
	CatalogBytes int
	URISeparator string         // between namespace and URI: "_" or "+"
	Mode         view.Mode      // how what is switched on reaches the client
	MetaTools    view.MetaTools // which tools of its own toolman offers; their names are nobody else's
	Toolsets     []toolset.Set  // those of tools.toml, by name
	Shelf        toolset.Shelf  // keeps saved ones; nil: there are none
	AllowStale   bool           // saved toolsets may use tools that changed since
	Equipped     *toolset.Set   // what a session begins with; nil: none
	AlwaysLoad   *bool          // whether tools ask clients not to defer them; nil: by client
	Version      string         // of toolman
	Trace        *trace.Writer  // nil: no trace
	Audit        *audit.Writer  // nil: no audit log
	Run          string         // what this run of toolman is called there
	// Signalled is done when a signal asks toolman to end: servers have less time then. Nil: never.
	Signalled context.Context
}

// ladder returns how long a server has that is to end now.
func (o *Options) ladder() spawn.Ladder {
	if o.Signalled != nil && o.Signalled.Err() != nil {
		return shortLadder
	}
	return normalLadder
}

// How long a server has to end by itself, and then after SIGTERM. A signal to toolman leaves less
// time: toolman is to be gone, with all servers, within 400 ms. Otherwise, as at the end of input, a
// server has time to write down what it must; some clients kill toolman 350 ms after that, and
// the reaper then ends the rest.
var (
	normalLadder = spawn.Ladder{AfterEOF: 200 * time.Millisecond, AfterTerm: 120 * time.Millisecond}
	shortLadder  = spawn.Ladder{AfterEOF: 80 * time.Millisecond, AfterTerm: 120 * time.Millisecond}
)

// A Session is one connected client.
type Session = session.Session

// A Tool is one that a session may have.
type Tool = session.Tool
