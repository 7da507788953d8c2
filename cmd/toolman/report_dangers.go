package main

import (
	"fmt"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/mcpwire/sanitize"
	"toolman/router"
)

// addDangers notes which tools are dangerous.
func (rep *report) addDangers(c *config.Config, r *router.Router) {
	tools, idle := r.Dangerous()
	var names []string
	for _, e := range tools[:min(len(tools), maxHeld)] {
		names = append(names, sanitize.Line(e.Name))
	}
	if more := len(tools) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(tools) > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("dangerous (confirm = %q): %s", c.Dangers.Confirm, strings.Join(names, ", ")))
	}
	if !rep.allReady() {
		return
	}
	for _, text := range idle {
		rep.Notes = append(rep.Notes, "dangerous_tools names what no server has, "+sanitize.Line(text))
	}
}
