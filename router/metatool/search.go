package metatool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/view"
)

// SearchTool is the name of the tool that finds items by what they do.
const SearchTool = "toolman_search"

// What a search returns.
const (
	defaultFound     = 5
	maxFound         = 20
	maxFoundBytes    = 32 << 10 // of definitions
	maxFoundOneBytes = 12 << 10 // of one definition
)

// searchPointer is what the description of toolman_activate says of toolman_search.
const searchPointer = SearchTool + " finds items by what they do, also those that are not shown here.\n"

// findable are the kinds as the argument kind names them.
var findable = [mcpwire.Kinds]string{mcpwire.Tool: "tool", mcpwire.Resource: "resource", mcpwire.Template: "template", mcpwire.Prompt: "prompt"}

func searchTool() *Tool {
	return &Tool{Name: SearchTool, run: find,
		Definition: `,"title":"Search tools, resources and prompts","description":"Finds tools, resources and prompts of this server by what they do, active ones or not. ` +
			`Say in plain words what you want to do (\"create a pull request\"). Returns the best first, each with its definition and with the arguments for ` +
			catalog.ActivateTool + ` that switch it on.","inputSchema":{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What you want to do or find, in plain words"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":` + strconv.Itoa(maxFound) + `,"description":"How many items to return (default: ` + strconv.Itoa(defaultFound) + `)"},` +
			`"kind":{"type":"string","enum":["` + strings.Join(findable[:], `","`) + `"],"description":"Only items of this kind (default: of all)"}},` +
			`"required":["query"],"additionalProperties":false}` + reads}
}

// A searchOutcome is the answer of toolman_search.
type searchOutcome struct {
	Items []foundItem `json:"items"` // the best first
	// Activate switches on all of them that are not active.
	Activate *Arguments `json:"activateAll,omitempty"`
	Hint     string     `json:"hint"` // what to do next
	Similar  []string   `json:"similarNames,omitempty"`
}

type foundItem struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Server   string          `json:"server"`
	Active   bool            `json:"active"`
	Tokens   int             `json:"tokens"` // that its definition adds to a list, about
	Activate *Arguments      `json:"activate,omitempty"`
	Problem  string          `json:"problem,omitempty"` // why it cannot be switched on
	About    string          `json:"description,omitempty"`
	Whole    json.RawMessage `json:"definition,omitempty"`
}

// find implements toolman_search.
func find(c *Context) Outcome {
	query, limit, kind, err := searchArguments(c)
	if err != nil {
		return Failure(err.Error())
	}
	entries := c.View.Search(query, limit, c.Modern, func(k mcpwire.Kind) bool { return kind == "" || kind == findable[k] })
	out := searchOutcome{Items: []foundItem{}}
	if len(entries) == 0 {
		out.Similar = similarTo(c.View, query)
		out.Hint = "nothing fits these words; use other words, or fewer; the resource " + catalog.CatalogURI + " lists everything"
		return resultOutcome(out)
	}
	size := 0
	var inactive []*catalog.Entry
	for _, e := range entries {
		definition := e.AppendListed(nil, c.Modern, false)
		item := foundItem{Name: e.Name, Kind: findable[e.Item.Kind], Server: e.Source.Name, Active: c.View.Active(e), Tokens: catalog.Tokens(len(definition))}
		if len(definition) <= maxFoundOneBytes && size+len(definition) <= maxFoundBytes {
			size += len(definition)
			item.Whole = definition
		} else {
			item.About = sanitize.Summary(e.Item.Description)
		}
		switch {
		case item.Active:
		case c.View.Rejection(e) != "":
			item.Problem = sanitize.Line(c.View.Rejection(e))
		default:
			item.Activate = activating(e)
			inactive = append(inactive, e)
		}
		out.Items = append(out.Items, item)
	}
	if len(inactive) > 1 {
		out.Activate = activating(inactive...)
	}
	out.Hint = c.Guidance.afterSearch(len(inactive) > 0)
	return resultOutcome(out)
}

// afterSearch says how to use what was found.
func (g *Guidance) afterSearch(inactive bool) string {
	text := "active items can be used now"
	switch {
	case inactive && !g.Offers.NoActivate:
		text = "call " + catalog.ActivateTool + " with the arguments in activate to switch an item on"
	case inactive:
		return "items that are not active have to be switched on with a toolset that has them"
	}
	if g.Mode == view.ModeCall {
		text += "; " + CallTool + " calls tools that are not in your list"
	}
	return text
}

// searchArguments returns the arguments of a call of toolman_search.
func searchArguments(c *Context) (query string, limit int, kind string, err error) {
	a, err := argumentsOf(c.Message, "query", "limit", "kind")
	if err != nil {
		return
	}
	if query, err = a.text("query"); err != nil {
		return
	}
	at, err := a.get("limit")
	if err != nil {
		return
	}
	if kind, err = a.optional("kind"); err != nil {
		return
	}
	limit = defaultFound
	if at.Present() {
		limit, _ = strconv.Atoi(string(a.m.Bytes(at))) // 0 if it is none
	}
	switch {
	case strings.TrimSpace(query) == "":
		err = errors.New("query is empty; say in plain words what you want to do")
	case limit < 1 || limit > maxFound:
		err = fmt.Errorf("limit must be a number from 1 to %d", maxFound)
	case kind != "" && !slices.Contains(findable[:], kind):
		err = fmt.Errorf("kind must be one of %s", strings.Join(findable[:], ", "))
	}
	return
}

// similarTo returns names of items that are spelt like a query.
func similarTo(v *view.View, query string) (near []string) {
	name := strings.Join(strings.Fields(query), "_")
	for _, k := range [...]mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Prompt} {
		near = append(near, v.Catalog.Similar(k, name)...)
	}
	return near
}
