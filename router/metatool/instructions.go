package metatool

import (
	"strings"

	"toolman/router/catalog"
	"toolman/router/view"
)

// The start of all instructions, and their end where lists do not change.
const (
	instructionsStart = "toolman serves the tools, resources and prompts of several MCP servers, each under the name of its server " +
		"(such as fs_read_file; the servers' own texts use the names without it). Only some are active. "
	instructionsCall = " A tool that was switched on and is not in your list is called with " + CallTool + "."
)

// Instructions explain to a client's model how to use toolman.
func Instructions(m view.Mode, o view.MetaTools) string {
	if !o.NoActivate || m == view.ModeStatic {
		return instructions(m)
	}
	text := instructionsStart + "The resource " + catalog.CatalogURI + " lists all of them, active ones with a *."
	if o.Toolsets {
		text += " list_toolsets shows groups of them, and enable_toolset makes the tools of one active."
	}
	if o.Manage {
		text += " " + availableTool + " lists the tools, and equip-toolset makes the tools of a saved toolset the only active ones."
	}
	if m == view.ModeCall && (o.Toolsets || o.Manage) {
		text += instructionsCall
	}
	return text
}

// instructions returns the instructions of a client that is offered toolman_activate, or of any
// client in ModeStatic.
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

const catalogResource = `{"uri":"` + catalog.CatalogURI + `","name":"toolman catalog","title":"All tools and resources, active ones marked with *",` +
	`"description":"Everything that ` + catalog.ActivateTool + ` can switch on and off, one line an item.","mimeType":"text/plain"}`

// CatalogResource returns the catalog resource as a list element. It mentions toolman_activate only
// if that tool is offered.
func CatalogResource(o view.MetaTools) string {
	if o.NoActivate {
		return strings.Replace(catalogResource, "that "+catalog.ActivateTool+" can switch on and off", "there is", 1)
	}
	return catalogResource
}
