package metatool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

const availableTool = "list-available-tools"

const availableArguments = `"inputSchema":{"type":"object","properties":{` +
	`"server":{"type":"string","description":"Only the tools of this server (default: of all)"},` +
	`"cursor":{"type":"string","description":"The nextCursor of the previous page"}},"additionalProperties":false}`

// availablePage is the number of tools on a page of list-available-tools. With cut descriptions
// such a page has about 5,000 tokens.
const availablePage = 100

// An availableOutcome is a page of list-available-tools, in the form of Hypertool.
type availableOutcome struct {
	Summary     availableSummary  `json:"summary"`
	Servers     []availableServer `json:"toolsByServer"`
	NextCursor  string            `json:"nextCursor,omitempty"`
	Unavailable []string          `json:"unavailableServers,omitempty"`
}

type availableSummary struct {
	Tools   int `json:"totalTools"` // on all pages
	Servers int `json:"totalServers"`
}

type availableServer struct {
	Name  string        `json:"serverName"`
	Count int           `json:"toolCount"` // on this page
	Tools []exposedTool `json:"tools"`
}

func listAvailable(c *Context) Outcome {
	tools, from, err := availableTools(c)
	if err != nil {
		return Failure(err.Error())
	}
	out := availableOutcome{Servers: []availableServer{}, Unavailable: c.Unavailable()}
	at := map[*catalog.Source]int{}
	for i, e := range tools {
		place, known := at[e.Source]
		if !known {
			place, at[e.Source] = -1, -1
			out.Summary.Servers++
		}
		if i < from || i >= from+availablePage {
			continue
		}
		if place < 0 {
			place = len(out.Servers)
			at[e.Source] = place
			out.Servers = append(out.Servers, availableServer{Name: e.Source.Name})
		}
		server := &out.Servers[place]
		server.Tools = append(server.Tools, exposedTool{Name: sanitize.Name(e.Item.Name), NamespacedName: e.Name,
			Description: sanitize.Summary(e.Item.Description), Active: c.View.Active(e)})
		server.Count++
	}
	if out.Summary.Tools = len(tools); from+availablePage < len(tools) {
		out.NextCursor = strconv.Itoa(from + availablePage)
	}
	return resultOutcome(out)
}

// availableTools returns the tools that a call asks for, and the index of the first one of the
// page.
func availableTools(c *Context) (tools []*catalog.Entry, from int, err error) {
	a, err := argumentsOf(c.Message, "server", "cursor")
	if err != nil {
		return nil, 0, err
	}
	server, err := a.optional("server")
	if err != nil {
		return nil, 0, err
	}
	cursor, err := a.optional("cursor")
	if err != nil {
		return nil, 0, err
	}
	var servers []string
	for _, e := range c.View.Catalog.Tools() {
		if !slices.Contains(servers, e.Source.Name) {
			servers = append(servers, e.Source.Name)
		}
		if !e.HiddenFrom(c.Modern) && (server == "" || e.Source.HasName(server)) {
			tools = append(tools, e)
		}
	}
	if server != "" && len(tools) == 0 {
		return nil, 0, fmt.Errorf("no server %s has tools; there are %s", sanitize.Short(server), sanitize.Cut(strings.Join(servers, ", "), 400))
	}
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from <= 0 || from >= len(tools) {
			return nil, 0, fmt.Errorf("unknown cursor %s; call %s without one to begin again", sanitize.Short(cursor), availableTool)
		}
	}
	return tools, from, nil
}
