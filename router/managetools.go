package router

import (
	"context"
	"errors"
	"fmt"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

const buildArguments = `"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9_.-]*$","maxLength":64,"description":"Name for the new toolset, such as dev-essentials"},` +
	`"tools":{"type":"array","minItems":1,"maxItems":1000,"description":"The tools, active or not, each by either identifier","items":{"type":"object","properties":{` +
	`"namespacedName":{"type":"string","description":"The tool's name, such as git_status"},` +
	`"refId":{"type":"string","description":"The hash of the tool's definition: sha256:…"}},"additionalProperties":false}},` +
	`"description":{"type":"string","maxLength":1000,"description":"What the toolset is for"},` +
	`"autoEquip":{"type":"boolean","description":"Equip it at once (default: false)"}},"required":["name","tools"],"additionalProperties":false}`

const deleteArguments = `"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Name of the toolset to delete"},` +
	`"confirm":{"type":"boolean","description":"Must be true for the toolset to be deleted"}},"required":["name"],"additionalProperties":false}`

// manageTools are the tools that keep toolsets and equip them.
func manageTools() []*metaTool {
	return []*metaTool{
		{name: "build-toolset", serve: (*Session).buildToolsetLocked,
			definition: `,"description":"Saves some tools as a toolset, under a name that can be equipped from then on.",` + buildArguments + adds},
		{name: "list-saved-toolsets", serve: (*Session).listSavedLocked,
			definition: `,"description":"Lists the saved toolsets, with their tools and whether these are there.",` + noArguments + reads},
		{name: equipTool, serve: (*Session).equipToolsetLocked,
			definition: `,"description":"Makes the tools of a toolset the only ones that are active, until unequip-toolset.",` + oneName + switches},
		{name: "unequip-toolset", serve: (*Session).unequipToolsetLocked,
			definition: `,"description":"Makes those tools active again that were before a toolset was equipped.",` + noArguments + switches},
		{name: "delete-toolset", serve: (*Session).deleteToolsetLocked,
			definition: `,"description":"Deletes a saved toolset.",` + deleteArguments + deletes},
		{name: "get-active-toolset", serve: (*Session).activeToolsetLocked,
			definition: `,"description":"Says which toolset is equipped, and which tools are active.",` + noArguments + reads},
	}
}

// buildRequest is what build-toolset is asked for.
type buildRequest struct {
	name, description string
	refs              []toolset.Ref
	equip             bool
}

func parseBuild(m *jsonrpc.Message) (r buildRequest, err error) {
	a, err := argumentsOf(m, "name", "tools", "description", "autoEquip")
	if err != nil {
		return r, err
	}
	var errs [4]error
	r.name, errs[0] = a.text("name")
	r.description, errs[1] = a.optional("description")
	r.equip, errs[2] = a.flag("autoEquip")
	r.refs, errs[3] = a.refs("tools")
	return r, errors.Join(errs[:]...)
}

// refs reads references to tools.
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
			break // Build refuses so many
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
	ref.RefID, err = a.optional("refId")
	return ref, err
}

var errNoShelf = errors.New("toolsets cannot be saved here")

func (s *Session) buildToolsetLocked(req *request, _ *library) {
	r, err := parseBuild(req.Message)
	if err == nil && s.r.Shelf == nil {
		err = errNoShelf
	}
	var set toolset.Set
	if err == nil {
		set, err = s.view.Load().Catalog.Build(r.name, r.description, r.refs)
		set.Owner = s.who.Principal.Owner()
	}
	if err != nil {
		s.failLocked(req, sanitize.Line(err.Error()))
		return
	}
	s.updateShelfLocked(req, catalog.Add(set, s.r.current().Toolsets), func(req *request) {
		out := builtOutcome{Success: true, Message: fmt.Sprintf("Toolset '%s' was saved with %d tools", set.Name, len(set.Tools))}
		out.Meta = builtMeta{Success: true, ToolsetName: set.Name, AutoEquipped: r.equip}
		if !r.equip || s.modeOf(req.modern) == view.ModeStatic {
			out.Meta.AutoEquipped = false
			out.Toolset = s.toolsetInfo(&set)
			s.sayLocked(req, out, false)
			return
		}
		s.equipLocked(req, &set, func(text string) any {
			out.Toolset, out.Message = s.toolsetInfo(&set), out.Message+" and equipped: "+text
			return out
		})
	})
}

// updateShelfLocked has the saved toolsets changed apart, and then the call answered.
func (s *Session) updateShelfLocked(req *request, change func(map[string]toolset.Set) error, done finish) {
	s.apartLocked(req, func(ctx context.Context) finish {
		var refused error
		err := s.r.Shelf.Update(ctx, func(saved map[string]toolset.Set) error {
			refused = change(saved)
			return refused
		})
		if refused == nil {
			err = s.r.shelfError(&s.who, err)
		}
		return func(req *request) {
			if err != nil {
				s.failLocked(req, sanitize.Line(err.Error()))
				return
			}
			done(req)
		}
	})
}

// equipLocked equips a toolset, and answers with the outcome.
func (s *Session) equipLocked(req *request, set *toolset.Set, outcome func(text string) any) {
	before := s.view.Load()
	after := before.Equip(set)
	s.view.Store(after)
	s.holdLocked(req, before, after, words{outcome: outcome})
}

func (s *Session) equipToolsetLocked(req *request, l *library) {
	set := s.namedToolsetLocked(req, l)
	if set == nil {
		return
	}
	s.equipLocked(req, set, func(text string) any {
		return equippedOutcome{Success: true, Message: fmt.Sprintf("Toolset '%s' equipped: %s", set.Name, text),
			Toolset: s.toolsetInfo(set), Warnings: cleaned(s.view.Load().Catalog.Expand(set).Warnings())}
	})
}

func (s *Session) unequipToolsetLocked(req *request, _ *library) {
	before := s.view.Load()
	name := before.Sets.EquippedName()
	_, err := argumentsOf(req.Message)
	if err == nil && name == "" {
		err = errors.New("no toolset is equipped")
	}
	if err != nil {
		s.failLocked(req, err.Error())
		return
	}
	s.changeLocked(req, before.Unequip(), fmt.Sprintf("Toolset '%s' unequipped", name), nil)
}

func (s *Session) deleteToolsetLocked(req *request, _ *library) {
	a, err := argumentsOf(req.Message, "name", "confirm")
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
	case s.r.Shelf == nil:
		err = errNoShelf
	case !sure:
		err = fmt.Errorf("deletion requires confirmation; set confirm to true to delete toolset %s", sanitize.Short(name))
	}
	if err != nil {
		s.failLocked(req, err.Error())
		return
	}
	owner := s.who.Principal.Owner()
	s.updateShelfLocked(req, catalog.Remove(owner, name, s.r.current().Toolsets), func(req *request) {
		s.changeLocked(req, s.view.Load().WithoutSaved(owner, name), fmt.Sprintf("Toolset '%s' has been deleted", name), nil)
	})
}
