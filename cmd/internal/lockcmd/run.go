package lockcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/store"
	"toolman/mcpwire/sanitize"
)

// options are the flags of toolman lock. Without diff, check and accept it writes the file.
type options struct {
	diff     bool     // print what has changed, field by field
	check    bool     // fail if something has changed
	accept   bool     // replace the pins of names alone
	partial  bool     // go on without servers that are not ready
	names    []string // with accept
	logLevel string
}

// run does what the options say for the lock file of a configuration.
func run(ctx context.Context, o options, c *config.Config, out io.Writer, stderr *os.File) error {
	path := store.LockPath(c.Beside)
	old, err := store.LoadPins(path) // before servers are started
	switch {
	case errors.Is(err, fs.ErrNotExist) && (o.accept || o.diff || o.check):
		return cli.Failed(fmt.Errorf("there is no %s", path), "toolman lock writes it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	found, err := takeInventory(ctx, c, old, o.logLevel, stderr)
	if err != nil {
		return err
	}
	for _, warning := range found.warnings {
		fmt.Fprintf(stderr, "toolman: warning: %s\n", warning)
	}
	switch {
	case len(found.unknown) > 0 && !o.partial && !o.accept:
		return cli.Failed(fmt.Errorf("the items of some servers are unknown:\n  %s", strings.Join(found.problems, "\n  ")),
			"toolman check says more; --partial goes on without them")
	case o.diff || o.check:
		return found.compare(out, path, old, o)
	}
	return found.write(ctx, out, path, o)
}

// write writes the lock file, with all items or only those that o accepts as they are now.
func (f *inventory) write(ctx context.Context, out io.Writer, path string, o options) error {
	var old, next store.Pins
	err := store.UpdatePins(ctx, path, func(was store.Pins) (store.Pins, error) {
		var err error
		old, next = was, store.KeepPins(was, f.pins, f.unknown)
		if o.accept {
			next, err = f.accept(was, next, o.names)
		}
		return next, err
	})
	if err != nil {
		return err
	}
	changes := store.ComparePins(old, next)
	if old != nil {
		for _, c := range changes {
			fmt.Fprintln(out, c.Line())
		}
	}
	_, err = fmt.Fprintf(out, "%s pins %s.\n", path, cli.Count(len(next), "item"))
	if len(changes) > 0 && err == nil {
		_, err = fmt.Fprintln(out, "toolman serve sees it by itself; restart a toolman that is running on stdio.")
	}
	return err
}

// accept returns was with the named items as they are in now.
func (f *inventory) accept(was, now store.Pins, names []string) (store.Pins, error) {
	names = f.complete(names)
	next, unknown := store.AcceptPins(was, now, names)
	if unknown != nil {
		return nil, f.unknownItems(unknown)
	}
	for k, p := range was {
		if _, offered := f.pins[k]; !offered && slices.Contains(names, k.Name) && slices.Contains(f.unknown, p.Server) {
			return nil, cli.Failed(fmt.Errorf("the current definition of %s is unknown:\n  %s", sanitize.Visible(k.String()), strings.Join(f.problems, "\n  ")),
				"toolman check says more")
		}
	}
	return next, nil
}

// complete returns the names, those of the form server.name replaced by the names that clients see.
func (f *inventory) complete(names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		full := map[string]bool{}
		exact := false
		for k, p := range f.pins {
			exact = exact || k.Name == name
			if own, ok := strings.CutPrefix(name, p.Server+"."); ok && k.Name == p.Server+"_"+own {
				full[k.Name] = true
			}
		}
		for found := range full {
			if !exact && len(full) == 1 {
				names[i] = found
			}
		}
	}
	return names
}

// unknownItems returns the error for names that no item has.
func (f *inventory) unknownItems(names []string) error {
	for i, name := range names {
		names[i] = sanitize.Visible(name)
		if near := f.namespaced(name); near != "" {
			names[i] += " (did you mean " + sanitize.Visible(near) + "?)"
		}
	}
	text := "nothing is called " + strings.Join(names, ", ")
	if len(f.problems) > 0 {
		text += "; but the items of some servers are unknown:\n  " + strings.Join(f.problems, "\n  ")
	}
	return cli.Failed(errors.New(text), "names are those that clients see, with their namespace; toolman lock --diff shows what differs")
}

// namespaced returns the name that clients see for a server's own name, or "" for none or several.
func (f *inventory) namespaced(name string) (found string) {
	for k := range f.pins {
		if strings.HasSuffix(k.Name, "_"+name) {
			if found != "" && found != k.Name {
				return ""
			}
			found = k.Name
		}
	}
	return found
}

// compare prints what has changed since the lock file was written.
func (f *inventory) compare(out io.Writer, path string, old store.Pins, o options) (err error) {
	for _, k := range f.unpinned {
		delete(old, k) // the file may still have it; it needs no pin any more
	}
	changes := store.ComparePins(old, store.KeepPins(old, f.pins, f.unknown))
	for _, c := range changes {
		if o.diff {
			err = c.Print(out)
		} else {
			_, err = fmt.Fprintln(out, c.Line())
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(changes) == 0:
		_, err = fmt.Fprintf(out, "Everything is as %s says: %s.\n", path, cli.Count(len(old), "item"))
		return err
	case o.check:
		return cli.Failed(fmt.Errorf("%s not as %s says", cli.CountIs(len(changes), "item"), path),
			"toolman lock --diff shows how; toolman lock --accept NAME... takes what is right")
	}
	return nil
}
