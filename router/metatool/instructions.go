package metatool

import (
	"strings"

	"toolman/router/catalog"
	"toolman/router/view"
)

// What instructions start with, and what they end with where lists do not change.
const (
	instructionsStart = "toolman serves the tools, resources and prompts of several MCP servers, each under the name of its server " +
		"(such as fs_read_file; the servers' own texts use the names without it). Only some are active. "
	instructionsCall = " A tool that was switched on and is not in your list is called with " + CallTool + "."
)

// instructions say to the client's model how toolman is used.
func instructions(m view.Mode) string {
	const end = "The description of the tool " +
		catalog.ActivateTool + " lists all of them, active ones with a *; call it to switch on what a task needs, and to switch off what it " +
		"no longer needs. The resource " + catalog.CatalogURI + " holds the same list."
	switch m {
	case view.ModeStatic:
		return instructionsStart + "The resource " + catalog.CatalogURI + " lists all of them, active ones with a *; which are active is fixed."
	case view.ModeCall:
		return instructionsStart + end + instructionsCall
	}
	return instructionsStart + end
}

// Instructions say to a client's model how toolman is used.
func Instructions(m view.Mode, o view.MetaTools) string {
	if !o.NoActivate || m == view.ModeStatic {
		return instructions(m)
	}
	text := instructionsStart + "The resource " + catalog.CatalogURI + " lists all of them, active ones with a *."
	if o.Toolsets {
		text += " list_toolsets shows groups of them, and enable_toolset makes the tools of one active."
	}
	if o.Manage {
		text += " equip-toolset makes the tools of a saved toolset the only active ones."
	}
	if m == view.ModeCall && (o.Toolsets || o.Manage) {
		text += instructionsCall
	}
	return text
}

const catalogResource = `{"uri":"` + catalog.CatalogURI + `","name":"toolman catalog","title":"All tools and resources, active ones marked with *",` +
	`"description":"Everything that ` + catalog.ActivateTool + ` can switch on and off, one line an item.","mimeType":"text/plain"}`

// CatalogResource is the catalog as an element of a list. It names toolman_activate only where there is one.
func CatalogResource(o view.MetaTools) string {
	if o.NoActivate {
		return strings.Replace(catalogResource, "that "+catalog.ActivateTool+" can switch on and off", "there is", 1)
	}
	return catalogResource
}
