package demo

import (
	"fmt"
	"slices"
	"strings"
)

// A step is something that the client does. play returns what was not as expected.
type step struct {
	title string // what happens and why it matters
	play  func(*client) error
}

func script() []step {
	return []step{
		{"The client connects. It is answered at once; the servers are still starting.", (*client).connect},
		{"The client lists the tools and gets those that are on, two of ten, and one of toolman's own.", (*client).list},
		{"It calls a tool. On the way the name and the id are changed; the rest stays, byte for byte.", (*client).find},
		{"It calls a tool that is off, and is told what to do about it.", (*client).callInactive},
		{`So the model switches on calc_add, and calc_crash for later. toolman answers when the client has read the changed list,
			so that both are there in the model's next step.`, (*client).activate},
		{"Resources go the same way, this one by a server's template. So do prompts; they are always on.", (*client).read},
		{"A misspelt name is answered with the right one.", (*client).misspell},
		{"A server crashes within a call. The caller is told, its tools leave the list, the rest goes on.", (*client).crash},
		{"The client hangs up. toolman ends its servers, then itself.", (*client).hangUp},
	}
}

func (c *client) connect() error {
	r, err := c.call(bothLegs, "initialize",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1.0.0"}}`)
	if err != nil {
		return err
	}
	if err := want("the revision", r.ProtocolVersion, "2025-11-25"); err != nil {
		return err
	}
	c.send(0, "notifications/initialized", "")
	return nil
}

func (c *client) list() error {
	if _, err := c.call(bothLegs, "tools/list", ""); err != nil {
		return err
	}
	if err := c.wantTools("toolman_activate", "notes_list", "notes_find"); err != nil {
		return err
	}
	c.say("toolman_activate tells the model in its description all there is, with a * at what is on:")
	excerpt, err := excerptOf(c.tools[0].Description, "notes_list", "notes_find", "notes_add", "calc_add")
	c.quote(excerpt)
	return err
}

func (c *client) find() error {
	r, err := c.callTool(bothLegs, "notes_find", `{"q":"oat"}`)
	if err != nil {
		return err
	}
	return want("what is found", r.text(), "2: Buy oat milk")
}

func (c *client) callInactive() error {
	return c.refused("calc_add", `{"a":6,"b":7}`, "toolman_activate", `"calc_add"`)
}

func (c *client) activate() error {
	changes := c.changes
	r, err := c.callTool(bothLegs, "toolman_activate",
		`{"tools_on":["calc_add","calc_crash"],"tools_off":[],"resources_on":[],"resources_off":[]}`)
	switch {
	case err != nil:
		return err
	case r.IsError:
		return fmt.Errorf("toolman_activate failed: %s", r.text())
	case c.changes == changes:
		return fmt.Errorf("toolman_activate was answered before the client had the new list")
	}
	if err := c.wantTools("toolman_activate", "notes_list", "notes_find", "calc_add", "calc_crash"); err != nil {
		return err
	}
	if r, err = c.callTool(clientLeg, "calc_add", `{"a":6,"b":7}`); err != nil {
		return err
	}
	return want("6 plus 7", r.text(), "13")
}

func (c *client) read() error {
	r, err := c.call(bothLegs, "resources/read", `{"uri":"notes_note://1"}`)
	if err != nil {
		return err
	}
	if len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, "passport") {
		return fmt.Errorf("notes_note://1 holds %v; want the note about the passport", r.Contents)
	}
	r, err = c.call(clientLeg, "prompts/get", `{"name":"notes_summarize","arguments":{"style":"brief"}}`)
	if err != nil {
		return err
	}
	if len(r.Messages) != 1 || !strings.Contains(r.Messages[0].Content.Text, "oat milk") {
		return fmt.Errorf("the prompt is %v; want one that holds the notes", r.Messages)
	}
	return nil
}

func (c *client) misspell() error {
	return c.refused("note_find", `{"q":"oat"}`, "notes_find")
}

func (c *client) crash() error {
	changes := c.changes
	if err := c.refused("calc_crash", `{}`, "calc"); err != nil {
		return err
	}
	if err := c.awaitChange(changes + 1); err != nil {
		return err
	}
	if err := c.wantTools("toolman_activate", "notes_list", "notes_find"); err != nil {
		return err
	}
	if strings.Contains(c.tools[0].Description, "calc_") {
		return fmt.Errorf("the catalog still has tools of calc")
	}
	r, err := c.callTool(clientLeg, "notes_list", `{}`)
	if err != nil {
		return err
	}
	return want("the open notes", r.text(), "2: Buy oat milk\n3: Book a table for Friday")
}

func (c *client) hangUp() error { return c.end(endTime) }

// refused calls a tool, which toolman must refuse, and shows the error, which must contain some
// words.
func (c *client) refused(name, arguments string, words ...string) error {
	r, err := c.callTool(bothLegs, name, arguments)
	if err != nil {
		return err
	}
	told := r.StructuredContent.Error
	c.say("The model reads: " + told)
	if !r.IsError {
		return fmt.Errorf("%s is no error; want one", r.text())
	}
	for _, word := range words {
		if !strings.Contains(told, word) {
			return fmt.Errorf("the model reads %q; want something about %s", told, word)
		}
	}
	return nil
}

func (c *client) wantTools(names ...string) error {
	got := make([]string, len(c.tools))
	for i, t := range c.tools {
		got[i] = t.Name
	}
	slices.Sort(got[min(1, len(got)):])
	slices.Sort(names[1:])
	return want("the list of tools", strings.Join(got, ", "), strings.Join(names, ", "))
}

func want(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s is %q; want %q", what, got, want)
	}
	return nil
}

// excerptOf returns the lines of the catalog about some names, with … for others.
func excerptOf(description string, names ...string) (string, error) {
	var b strings.Builder
	gap := true // what comes before is no catalog
	for line := range strings.Lines(description) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "* "), ": ")
		i := slices.Index(names, name)
		if i >= 0 {
			names = slices.Delete(names, i, i+1)
			b.WriteString(line)
		} else if !gap {
			b.WriteString("…\n")
		}
		gap = i < 0
	}
	if len(names) > 0 {
		return b.String(), fmt.Errorf("the catalog has nothing about %s", strings.Join(names, ", "))
	}
	return b.String(), nil
}
