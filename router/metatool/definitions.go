package metatool

import (
	"bytes"
	"maps"
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// CatalogAuto limits the catalog only for clients that are known to truncate descriptions.
const CatalogAuto = -1

// Definitions are the definitions of toolman's own tools in lists.
type Definitions struct {
	Own          map[string]*Tool // the toolset tools
	Toolsets     []toolset.Set    // of tools.toml
	CatalogBytes int              // limit of the catalog in a description; 0: none; or CatalogAuto
}

// Tools returns the definitions of toolman's own tools as list elements, or nil if there are none.
func (d *Definitions) Tools(v *view.View, as view.Variant) []byte {
	var defs [][]byte
	add := func(def []byte) { defs = append(defs, withAlwaysLoad(def, as.AlwaysLoad)) }
	search := d.Own[SearchTool] != nil && as.Offers.Search == view.SearchAlways
	if !as.Offers.NoActivate {
		switch as.Mode {
		case view.ModeMutate:
			add(d.activateTool(v, as.Habits, ActivateIntro, &search))
		case view.ModeCall:
			add(d.activateTool(v, as.Habits, callIntro, &search))
		}
	}
	if as.Mode == view.ModeCall && as.Offers.CanSwitch() {
		add(callToolDefinition(as.Offers.NoActivate))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Own)) {
		if t := d.Own[name]; (as.Mode != view.ModeStatic || t.InStaticMode) && (name != SearchTool || search) && (name != LoginTool || as.Offers.Login) {
			add(append(jsonrpc.AppendQuoted([]byte(`{"name":`), name), t.Definition...))
		}
	}
	if defs == nil {
		return nil
	}
	return bytes.Join(defs, []byte{','})
}

// withAlwaysLoad returns the definition of a tool, marked as always loaded if always is set.
func withAlwaysLoad(def []byte, always bool) []byte {
	if !always {
		return def
	}
	return append(append(def[:len(def)-1], ","+mcpwire.AlwaysLoad...), '}')
}

// activateTool returns the definition of toolman_activate with the catalog of the view. It sets
// search if the catalog had to be cut and toolman_search can be offered. If search is set, the
// description refers to that tool.
func (d *Definitions) activateTool(v *view.View, h view.Habits, intro string, search *bool) []byte {
	def := append([]byte(nil), `{"name":"`+catalog.ActivateTool+`","title":"Switch tools and resources on and off","description":"`...)
	start := len(def)
	def = jsonrpc.AppendEscaped(def, intro+d.toolsetLines())
	if d.Own[SearchTool] != nil && (*search || !view.Fits(v, d.catalogRoom(h, len(def)))) {
		*search = true
		def = jsonrpc.AppendEscaped(def[:start], intro+searchPointer+d.toolsetLines())
	}
	def = view.AppendCatalog(def, v, d.catalogRoom(h, len(def)))
	def = append(def, `","inputSchema":`+activateSchema+
		`,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`...)
	return def
}

// toolsetLines lists the toolsets of tools.toml. Saved toolsets are not read for it.
func (d *Definitions) toolsetLines() string {
	if len(d.Toolsets) == 0 {
		return ""
	}
	text := "Toolsets, which may stand in tools_on and tools_off as they stand here:\n"
	for _, set := range d.Toolsets {
		text += toolsetPrefix + set.Name
		if about := sanitize.Summary(set.Description); about != "" {
			text += ": " + about
		}
		text += "\n"
	}
	return text
}

// catalogRoom returns how many bytes of the catalog the client can receive; 0 means no limit.
func (d *Definitions) catalogRoom(h view.Habits, used int) int {
	limit := d.CatalogBytes
	if limit == CatalogAuto {
		limit = h.CutsAt
	}
	if limit == 0 {
		return 0
	}
	return max(1, limit-used)
}

// ActivateIntro is the start of the description of toolman_activate. Clients that truncate
// descriptions still show it.
const ActivateIntro = "Switches tools and resources of this server on and off. Only active ones (marked * below) are listed and can be used; " +
	"switch on what the task needs by its exact name, by a glob (fs_*) or as server:NAME, and switch off what it no longer needs. All four " +
	"lists are required; give [] where there is nothing to do. Calling it with four empty lists, or reading the resource " + catalog.CatalogURI + ", shows the whole catalog.\n"

// callIntro replaces ActivateIntro where lists do not change.
const callIntro = "Switches tools and resources of this server on and off. Those marked * below are active at the start; switch on what the " +
	"task needs by its exact name, by a glob (fs_*) or as server:NAME, and switch off what it no longer needs. The reply has the definition of each tool that was switched on; " +
	CallTool + " calls it. All four lists are required; give [] where there is nothing to do. Calling it with four empty lists, or reading " +
	"the resource " + catalog.CatalogURI + ", shows the whole catalog as it is then.\n"

const activateSchema = `{"type":"object","properties":{` +
	`"tools_on":{"type":"array","items":{"type":"string"},"description":"Names of tools to switch on"},` +
	`"tools_off":{"type":"array","items":{"type":"string"},"description":"Names of tools to switch off"},` +
	`"resources_on":{"type":"array","items":{"type":"string"},"description":"URIs or URI templates of resources to switch on"},` +
	`"resources_off":{"type":"array","items":{"type":"string"},"description":"URIs or URI templates of resources to switch off"}},` +
	`"required":["tools_on","tools_off","resources_on","resources_off"],"additionalProperties":false}`
