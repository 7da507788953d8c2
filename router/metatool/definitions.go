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

// CatalogAuto bounds the catalog only for clients known to cut descriptions.
const CatalogAuto = -1

// Definitions are of toolman's own tools, as lists have them.
type Definitions struct {
	Own          map[string]*Tool // those about toolsets
	Toolsets     []toolset.Set    // of tools.toml
	CatalogBytes int              // of the catalog in the description of toolman_activate at most, 0 for no limit, or CatalogAuto
}

// ActivateIntro is what the description of toolman_activate starts with. Clients that cut
// descriptions still show this.
const ActivateIntro = "Switches tools and resources of this server on and off. Only active ones (marked * below) are listed and can be used; " +
	"switch on what the task needs by its exact name, and switch off what it no longer needs. All four lists are required; give [] where " +
	"there is nothing to do. Calling it with four empty lists, or reading the resource " + catalog.CatalogURI + ", shows the whole catalog.\n"

// callIntro takes its place where lists stay as they are.
const callIntro = "Switches tools and resources of this server on and off. Those marked * below are active at the start; switch on what the " +
	"task needs by its exact name, and switch off what it no longer needs. The reply has the definition of each tool that was switched on; " +
	CallTool + " calls it. All four lists are required; give [] where there is nothing to do. Calling it with four empty lists, or reading " +
	"the resource " + catalog.CatalogURI + ", shows the whole catalog as it is then.\n"

const activateSchema = `{"type":"object","properties":{` +
	`"tools_on":{"type":"array","items":{"type":"string"},"description":"Names of tools to switch on"},` +
	`"tools_off":{"type":"array","items":{"type":"string"},"description":"Names of tools to switch off"},` +
	`"resources_on":{"type":"array","items":{"type":"string"},"description":"URIs or URI templates of resources to switch on"},` +
	`"resources_off":{"type":"array","items":{"type":"string"},"description":"URIs or URI templates of resources to switch off"}},` +
	`"required":["tools_on","tools_off","resources_on","resources_off"],"additionalProperties":false}`

// Tools returns the definitions of toolman's own tools as elements of a list, nil
// for none.
func (d *Definitions) Tools(v *view.View, as view.Variant) []byte {
	var defs [][]byte
	add := func(def []byte) { defs = append(defs, loaded(def, as.AlwaysLoad)) }
	if !as.Offers.NoActivate {
		switch as.Mode {
		case view.ModeMutate:
			add(d.activateTool(v, as.Habits, ActivateIntro))
		case view.ModeCall:
			add(d.activateTool(v, as.Habits, callIntro))
		}
	}
	if as.Mode == view.ModeCall && as.Offers.Switches() {
		add(callTool(as.Offers.NoActivate))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Own)) {
		if t := d.Own[name]; as.Mode != view.ModeStatic || t.Free {
			add(append(jsonrpc.AppendQuoted([]byte(`{"name":`), name), t.Definition...))
		}
	}
	if defs == nil {
		return nil
	}
	return bytes.Join(defs, []byte{','})
}

// loaded returns the definition of a tool, as one to be loaded always if so.
func loaded(def []byte, always bool) []byte {
	if !always {
		return def
	}
	return append(append(def[:len(def)-1], ","+mcpwire.AlwaysLoad...), '}')
}

// activateTool returns the definition of toolman_activate, with the catalog as it
// is in the view.
func (d *Definitions) activateTool(v *view.View, h view.Habits, intro string) []byte {
	def := append([]byte(nil), `{"name":"`+catalog.ActivateTool+`","title":"Switch tools and resources on and off","description":"`...)
	def = jsonrpc.AppendEscaped(def, intro+d.toolsetLines())
	def = view.AppendCatalog(def, v, d.catalogRoom(h, len(def)))
	def = append(def, `","inputSchema":`+activateSchema+
		`,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`...)
	return def
}

// toolsetLines names the toolsets of tools.toml. What was saved is not read for it.
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

// catalogRoom returns how many bytes of catalog the client can take; 0 is no limit.
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
