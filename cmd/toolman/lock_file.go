package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolman/cmd/internal/pins"
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
		if next, unknown = pins.Accept(was, pins.Keep(was, found.pins, found.missing), names); unknown != nil {
			return nil, unknownItems(unknown, found)
		}
		return next, nil
	})
	if err != nil {
		return err
	}
	return wrote(out, path, old, next)
}

func unknownItems(names []string, found *offering) error {
	for i, name := range names {
		names[i] = pins.Visible(name)
	}
	text := "nothing is called " + strings.Join(names, ", ")
	if len(found.problems) > 0 {
		text += "; but not every server is ready:\n  " + strings.Join(found.problems, "\n  ")
	}
	return &exitError{errors.New(text), exitFailed, "names are those that clients see, with their namespace; toolman lock --diff shows what differs"}
}

// wrote says what was written.
func wrote(out io.Writer, path string, old, next pins.Set) error {
	if old != nil {
		for _, c := range pins.Compare(old, next) {
			fmt.Fprintf(out, "%s %s (%s)\n", c.Mark(), pins.Visible(c.Key.String()), c.Word())
		}
	}
	_, err := fmt.Fprintf(out, "%s pins %d items.\n", path, len(next))
	return err
}

// comparePins shows what has changed since the lock file was written.
func comparePins(out io.Writer, path string, found *offering, do lockFlags) error {
	old, err := pins.Load(path)
	if err != nil {
		return err
	}
	changes := pins.Compare(old, pins.Keep(old, found.pins, found.missing))
	for _, c := range changes {
		if do.diff {
			err = c.Print(out)
		} else {
			_, err = fmt.Fprintf(out, "%s %s (%s)\n", c.Mark(), pins.Visible(c.Key.String()), c.Word())
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(changes) == 0:
		_, err = fmt.Fprintf(out, "Everything is as %s says: %d items.\n", path, len(old))
		return err
	case do.check:
		return &exitError{fmt.Errorf("%d items are not as %s says", len(changes), path), exitFailed,
			"toolman lock --diff shows how; toolman lock --accept NAME... takes what is right"}
	}
	return nil
}
