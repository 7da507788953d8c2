package builtin

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/metatool"
	"toolman/router/view"
)

// maxDefinitions limits the bytes of tool definitions in one reply.
const maxDefinitions = 256 << 10

// A switchReply answers a call that has changed the client's view.
type switchReply struct {
	On, Off []*catalog.Entry
	Modern  bool // the call is of the modern era
	Mode    view.Mode
	Static  bool // the client does not list the tools again
}

// result returns the result: a short text, and the definitions of the tools that were switched on
// for clients that do not list the tools again.
func (r *switchReply) result(o *metatool.Outcome) []byte {
	var tools [][]byte
	size := 0
	for _, e := range r.On {
		if e.Item.Kind == mcpwire.Tool && size+len(e.Item.Raw) <= maxDefinitions {
			size += len(e.Item.Raw)
			tools = append(tools, e.AppendListed(nil, r.Modern, false))
		}
	}
	text, advice := confirmation(r.On, r.Off)+r.cost(), ""
	if len(tools) > 0 {
		advice = r.advice()
	}
	era := mcpwire.Legacy
	if r.Modern {
		era = mcpwire.Modern
	}
	if o.Reply != nil {
		return mcpwire.AppendToolOutcome(era, nil, metatool.JSON(o.Reply(text+advice)), tools, advice != "")
	}
	text = strings.Join(append([]string{text + advice}, o.Warnings...), ". ")
	return mcpwire.AppendToolSuccess(era, nil, text, tools, advice != "")
}

// cost says how many tokens the switched definitions are.
func (r *switchReply) cost() (text string) {
	if n := r.tokens(r.On); n > 0 {
		text = fmt.Sprintf("; adds about %d tokens", n)
	}
	if n := r.tokens(r.Off); n > 0 {
		text += fmt.Sprintf("; saves about %d tokens", n)
	}
	return text
}

func (r *switchReply) tokens(entries []*catalog.Entry) int {
	var buf []byte
	size := 0
	for _, e := range entries {
		buf = e.AppendListed(buf[:0], r.Modern, false)
		size += len(buf)
	}
	return catalog.Tokens(size)
}

// advice explains how to call the new tools if the client's list does not contain them.
func (r *switchReply) advice() string {
	const definitions = "; the definitions are in this result"
	switch {
	case r.Mode == view.ModeCall:
		return ". Call what was switched on with " + metatool.CallTool + `, as {"name": …, "arguments": {…}}` + definitions
	case r.Static:
		return ". This client has not listed its tools again: call by its name what is missing there" + definitions
	}
	return ""
}

// switched returns the entries that were switched on and off between two views of a catalog,
// without those that only pages use, unless there are no others.
func switched(before, after *view.View) (on, off []*catalog.Entry) {
	for _, entries := range after.Catalog.Kinds() {
		for _, e := range entries {
			was, is := before.Active(e), after.Active(e)
			if is && !was {
				on = append(on, e)
			} else if was && !is {
				off = append(off, e)
			}
		}
	}
	forModel := func(e *catalog.Entry) bool { return !e.ForPages() }
	if slices.ContainsFunc(on, forModel) || slices.ContainsFunc(off, forModel) {
		on, off = slices.DeleteFunc(on, (*catalog.Entry).ForPages), slices.DeleteFunc(off, (*catalog.Entry).ForPages)
	}
	return on, off
}

// confirmation describes what was switched.
func confirmation(on, off []*catalog.Entry) string {
	var parts []string
	if len(on) > 0 {
		parts = append(parts, "switched on "+enumerate(on))
	}
	if len(off) > 0 {
		parts = append(parts, "switched off "+enumerate(off))
	}
	if len(parts) == 0 {
		return "nothing to change: everything named was as asked for"
	}
	return strings.Join(parts, "; ")
}

// enumerate names some entries and counts the rest.
func enumerate(entries []*catalog.Entry) string {
	const most = 10
	var names []string
	for _, e := range entries[:min(len(entries), most)] {
		names = append(names, sanitize.Name(e.Name))
	}
	text := strings.Join(names, ", ")
	if more := len(entries) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
