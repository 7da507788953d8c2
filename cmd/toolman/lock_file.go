package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolman/cmd/internal/pins"
	"toolman/mcpwire/sanitize"
)

// writePins writes the lock file with everything as it is.
func writePins(ctx context.Context, out io.Writer, path string, found *offering) error {
	var old, next pins.Set
	err := pins.Update(ctx, path, func(was pins.Set) (pins.Set, error) {
		old, next = was, pins.Keep(was, found.pins, found.missing)
		return next, nil
	})
	if err != nil {
		return err
	}
	return wrote(out, path, old, next)
}

// acceptPins takes items as they are now.
func acceptPins(ctx context.Context, out io.Writer, path string, found *offering, names []string) error {
	var old, next pins.Set
	err := pins.Update(ctx, path, func(was pins.Set) (pins.Set, error) {
		var unknown []string
		old = was
		now := pins.Keep(was, found.pins, found.missing)
		if next, unknown = pins.Accept(was, now, names); unknown != nil {
			return nil, unknownItems(unknown, found)
		}
		return next, found.checkKnown(was, names)
	})
	if err != nil {
		return err
	}
	return wrote(out, path, old, next)
}

// checkKnown is an error when it is not known what one of the names stands for now.
func (f *offering) checkKnown(was pins.Set, names []string) error {
	for k, p := range was {
		if _, offered := f.pins[k]; !offered && slices.Contains(names, k.Name) && slices.Contains(f.missing, p.Server) {
			return &exitError{fmt.Errorf("nobody knows what %s is now:\n  %s", sanitize.Visible(k.String()), strings.Join(f.problems, "\n  ")), exitFailed,
				"toolman check says more"}
		}
	}
	return nil
}

// called is the name of an item whose server calls it by that name, "" for none or several.
func (f *offering) called(name string) (near string) {
	for _, k := range f.pins.Keys() {
		if strings.HasSuffix(k.Name, "_"+name) {
			if near != "" {
				return ""
			}
			near = k.Name
		}
	}
	return near
}

func unknownItems(names []string, found *offering) error {
	for i, name := range names {
		names[i] = sanitize.Visible(name)
		if near := found.called(name); near != "" {
			names[i] += " (did you mean " + sanitize.Visible(near) + "?)"
		}
	}
	text := "nothing is called " + strings.Join(names, ", ")
	if len(found.problems) > 0 {
		text += "; but it is not known what every server offers:\n  " + strings.Join(found.problems, "\n  ")
	}
	return &exitError{errors.New(text), exitFailed, "names are those that clients see, with their namespace; toolman lock --diff shows what differs"}
}

// wrote says what was written.
func wrote(out io.Writer, path string, old, next pins.Set) error {
	changes := pins.Compare(old, next)
	if old != nil {
		for _, c := range changes {
			fmt.Fprintf(out, "%s %s (%s)\n", c.Mark(), sanitize.Visible(c.Key.String()), c.Word())
		}
	}
	_, err := fmt.Fprintf(out, "%s pins %s.\n", path, counted(len(next), "item"))
	if len(changes) > 0 && err == nil {
		_, err = fmt.Fprintln(out, "toolman serve sees it by itself; restart a toolman that is running on stdio.")
	}
	return err
}

// comparePins shows what has changed since the lock file was written.
func comparePins(out io.Writer, path string, found *offering, do lockFlags) error {
	old, err := pins.Load(path)
	if err != nil {
		return err
	}
	for _, k := range found.unpinned {
		delete(old, k) // it is there, and no business of the file's any more
	}
	changes := pins.Compare(old, pins.Keep(old, found.pins, found.missing))
	for _, c := range changes {
		if do.diff {
			err = c.Print(out)
		} else {
			_, err = fmt.Fprintf(out, "%s %s (%s)\n", c.Mark(), sanitize.Visible(c.Key.String()), c.Word())
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(changes) == 0:
		_, err = fmt.Fprintf(out, "Everything is as %s says: %s.\n", path, counted(len(old), "item"))
		return err
	case do.check:
		return &exitError{fmt.Errorf("%s not as %s says", are(len(changes), "item"), path), exitFailed,
			"toolman lock --diff shows how; toolman lock --accept NAME... takes what is right"}
	}
	return nil
}
