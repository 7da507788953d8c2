package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/router/budget"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/ops"
)

// bridgeOptions say how programs without MCP are served.
func (a *app) bridgeOptions(c *config.HTTP, budgets *budget.Budgets) bridge.Options {
	return bridge.Options{
		Caller: callerOf, ActiveOnly: c.BridgeActiveOnly, Scrub: a.secrets.JSON,
		Logs:      func(r *http.Request, agent string) bridge.Logs { return rightsOf(r).logs.of(agent) },
		Correlate: func(r *http.Request, id string) { ops.Correlate(r.Context(), id) },
		Budgets:   budgets, MaxBody: int64(c.MaxBodyBytes), MaxSessions: c.MaxSessions, Idle: c.SessionIdle,
	}
}

// callLogs say who may read what of the calls.
type callLogs struct {
	open    bool     // nobody needs a credential: everybody
	readers []string // agents who may read all
	files   []bridge.CallLog
}

// callLogVariable tells a server where to write its calls.
const callLogVariable = "MCP_CALL_LOG="

func callLogsOf(c *config.Config, authenticates bool) callLogs {
	l := callLogs{open: !authenticates, readers: c.HTTP.LogReaders}
	for _, s := range c.Servers {
		for _, v := range s.Env {
			path, ok := strings.CutPrefix(v, callLogVariable)
			if !ok || path == "" || !s.Enabled {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.Dir, path)
			}
			l.files = append(l.files, bridge.CallLog{Server: s.Name, Path: path})
		}
	}
	return l
}

func (l callLogs) of(agent string) bridge.Logs {
	if l.open || slices.Contains(l.readers, agent) {
		return bridge.Logs{All: true, Files: l.files}
	}
	return bridge.Logs{}
}
