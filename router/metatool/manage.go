package metatool

import (
	"errors"
	"fmt"
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/choose"
	"toolman/router/toolset"
	"toolman/router/view"
)

const buildArguments = `"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9_.-]*$","maxLength":64,"description":"Name for the new toolset, such as dev-essentials"},` +
	`"tools":{"type":"array","minItems":1,"maxItems":1000,"description":"The tools, active or not, each by either identifier","items":{"type":"object","properties":{` +
	`"namespacedName":{"type":"string","description":"The tool's name, such as git_status"},` +
	`"refId":{"type":"string","description":"The hash of the tool's Definition: sha256:…"}},"additionalProperties":false}},` +
	`"description":{"type":"string","maxLength":1000,"description":"What the toolset is for"},` +
	`"version":{"type":"string","maxLength":64,"description":"Version of the toolset (default: 1.0.0)"},` +
	`"autoEquip":{"type":"boolean","description":"Equip it at once (default: false)"}},"required":["name","tools"],"additionalProperties":false}`

const deleteArguments = `"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Name of the toolset to delete"},` +
	`"confirm":{"type":"boolean","description":"Must be true for the toolset to be deleted"}},"required":["name"],"additionalProperties":false}`

// manageTools returns the tools that save and equip toolsets.
func manageTools() []*Tool {
	return []*Tool{
		{Name: availableTool, run: listAvailable,
			Definition: `,"description":"Lists the tools there are to build toolsets from, active or not, by server. Long lists come in pages.",` + availableArguments + reads},
		{Name: "build-toolset", run: buildToolset,
			Definition: `,"description":"Saves some tools as a toolset, under a name that can be equipped from then on.",` + buildArguments + adds},
		{Name: "list-saved-toolsets", run: listSaved,
			Definition: `,"description":"Lists the saved toolsets, with their tools and whether these are there.",` + noArguments + reads},
		{Name: equipTool, run: equipToolset,
			Definition: `,"description":"Makes the tools of a toolset the only ones that are active, until unequip-toolset.",` + oneName + switches},
		{Name: "unequip-toolset", run: unequipToolset,
			Definition: `,"description":"Makes those tools active again that were before a toolset was equipped.",` + noArguments + switches},
		{Name: "delete-toolset", run: deleteToolset,
			Definition: `,"description":"Deletes a saved toolset.",` + deleteArguments + deletes},
		{Name: "get-active-toolset", run: activeToolset,
			Definition: `,"description":"Says which toolset is equipped, and which tools are active.",` + noArguments + reads},
	}
}

// A buildRequest contains the arguments of build-toolset.
type buildRequest struct {
	set   toolset.Set // without tools
	refs  []toolset.Ref
	equip bool
}

func parseBuild(m *jsonrpc.Message) (r buildRequest, err error) {
	a, err := argumentsOf(m, "name", "tools", "description", "version", "autoEquip")
	if err != nil {
		return r, err
	}
	var errs [5]error
	r.set.Name, errs[0] = a.text("name")
	r.set.Description, errs[1] = a.optional("description")
	r.set.Version, errs[2] = a.optional("version")
	r.equip, errs[3] = a.flag("autoEquip")
	r.refs, errs[4] = a.refs("tools")
	return r, errors.Join(errs[:]...)
}

// refs returns a list of references to tools.
func (a arguments) refs(key string) ([]toolset.Ref, error) {
	at, err := a.get(key)
	if err != nil {
		return nil, err
	}
	const form = `%s must be a list of tools, each {"namespacedName": …} or {"refId": …}`
	if !at.Present() || a.m.Frame[at.Lo] != '[' {
		return nil, fmt.Errorf(form, key)
	}
	var refs []toolset.Ref
	for el := range jsonrpc.Elements(a.m.Frame, at) {
		if len(refs) > toolset.MaxTools {
			break // Catalog.Build refuses longer lists
		}
		if !a.m.IsObject(el) {
			return nil, fmt.Errorf(form, key)
		}
		ref, err := arguments{a.m, el}.ref()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

func (a arguments) ref() (ref toolset.Ref, err error) {
	if err = a.only("namespacedName", "refId"); err != nil {
		return ref, err
	}
	if ref.NamespacedName, err = a.optional("namespacedName"); err != nil {
		return ref, err
	}
	id, err := a.optional("refId")
	ref.RefID = toolset.WithAlgorithm(id)
	return ref, err
}

// completeNames replaces names of the forms server.name and toolset.name, and those with a colon,
// by the names that clients see.
func completeNames(v *view.View, refs []toolset.Ref) error {
	for i := range refs {
		name := refs[i].NamespacedName
		if name == "" || v.Has(mcpwire.Tool, name) {
			continue
		}
		meant := v.Qualified(mcpwire.Tool, name)
		if ref := refs[i].RefID; ref != "" && len(meant) > 1 {
			meant = slices.DeleteFunc(meant, func(e *catalog.Entry) bool { return e.RefID() != ref })
		}
		switch {
		case len(meant) > 1:
			return fmt.Errorf("nothing was saved: %s", choose.Ambiguous(name, meant))
		case len(meant) == 1:
			refs[i].NamespacedName = meant[0].Name
		}
	}
	return nil
}

var errNoShelf = errors.New("toolsets cannot be saved here")

func buildToolset(c *Context) Outcome {
	r, err := parseBuild(c.Message)
	if err == nil && c.Shelf == nil {
		err = errNoShelf
	}
	var set toolset.Set
	if err == nil {
		err = completeNames(c.View, r.refs)
	}
	if err == nil {
		set, err = c.View.Catalog.Build(r.set, r.refs)
		set.Owner = c.Owner
	}
	if err != nil {
		return Failure(sanitize.Line(err.Error()))
	}
	return Outcome{Save: toolset.Add(set, c.Fixed), Then: func(c *Context) Outcome {
		out := builtOutcome{Success: true, Message: fmt.Sprintf("Toolset '%s' was saved with %d tools", set.Name, len(set.Tools))}
		out.Meta = builtMeta{Success: true, ToolsetName: set.Name, AutoEquipped: r.equip}
		if !r.equip || c.Guidance.Mode == view.ModeStatic {
			out.Meta.AutoEquipped = false
			out.Toolset = infoOf(c.View, &set)
			return resultOutcome(out)
		}
		after := c.View.Equip(&set)
		return Outcome{View: after, Reply: func(text string) any {
			out.Toolset, out.Message = infoOf(after, &set), out.Message+" and equipped: "+text
			return out
		}}
	}}
}

func equipToolset(c *Context) Outcome {
	set, err := namedToolset(c)
	if err != nil {
		return Failure(err.Error())
	}
	after := c.View.Equip(set)
	return Outcome{View: after, Reply: func(text string) any {
		return equippedOutcome{Success: true, Message: fmt.Sprintf("Toolset '%s' equipped: %s", set.Name, text),
			Toolset: infoOf(after, set), Warnings: sanitized(after.Catalog.Expand(set).Warnings())}
	}}
}

func unequipToolset(c *Context) Outcome {
	name := c.View.Sets.EquippedName()
	_, err := argumentsOf(c.Message)
	if err == nil && name == "" {
		err = errors.New("no toolset is equipped")
	}
	if err != nil {
		return Failure(err.Error())
	}
	return viewChanged(c.View.Unequip(), fmt.Sprintf("Toolset '%s' unequipped", name), nil)
}

func deleteToolset(c *Context) Outcome {
	a, err := argumentsOf(c.Message, "name", "confirm")
	var name string
	var sure bool
	if err == nil {
		name, err = a.text("name")
	}
	if err == nil {
		sure, err = a.flag("confirm")
	}
	switch {
	case err != nil:
	case c.Shelf == nil:
		err = errNoShelf
	case !sure:
		err = fmt.Errorf("deletion requires confirmation; set confirm to true to delete toolset %s", sanitize.Short(name))
	}
	if err != nil {
		return Failure(err.Error())
	}
	return Outcome{Save: toolset.Remove(c.Owner, name, c.Fixed), Then: func(c *Context) Outcome {
		return viewChanged(c.View.WithoutSaved(c.Owner, name), fmt.Sprintf("Toolset '%s' has been deleted", name), nil)
	}}
}
