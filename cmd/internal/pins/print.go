package pins

import (
	"fmt"
	"io"

	"toolman/mcpwire/sanitize"
)

// Print writes a change for people: one line that says of which item and what kind of change, and below it, for all but
// what is gone, every field that differs, old lines after a -, new ones after a +.
func (c Change) Print(out io.Writer) error {
	server := ""
	if c.New != nil {
		server = c.New.Server
	} else if c.Old != nil {
		server = c.Old.Server
	}
	if _, err := fmt.Fprintf(out, "%s %s (%s, server %s)\n", c.Mark(), sanitize.Visible(c.Key.String()), c.Word(), sanitize.Visible(server)); err != nil || c.New == nil {
		return err
	}
	var old []byte
	if c.Old != nil {
		old = c.Old.Definition
	}
	if c.New.Definition == nil || c.Old != nil && old == nil {
		_, err := fmt.Fprintf(out, "    a definition of more than %d KiB is not kept, so there is nothing to compare it with\n", maxDefinition>>10)
		return err
	}
	for _, f := range Fields(old, c.New.Definition) {
		if err := f.print(out); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) print(out io.Writer) error {
	if _, err := fmt.Fprintf(out, "    %s\n", f.Path); err != nil {
		return err
	}
	old, now := f.differing()
	for _, part := range []struct {
		mark  string
		lines []string
	}{{"-", old}, {"+", now}} {
		for _, l := range part.lines {
			if _, err := fmt.Fprintf(out, "      %s %s\n", part.mark, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// differing are the lines without those that are equal at both ends.
func (f Field) differing() (old, now []string) {
	old, now = f.Old, f.New
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return old, now
}
