package printer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"toolman/cmd/internal/traces/calls"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire/system"
)

// Options choose a trace and what to print of it.
type Options struct {
	File    string    // "-" is Stdin
	Stdin   io.Reader // read when File is "-"
	Filters []string  // as toolman trace --help lists them
	Frames  bool      // every frame instead of every call
	Verbose bool
	Follow  bool // wait for more as the file grows, until the context is done
	Stats   bool // a table by tool instead
	JSON    bool
	Color   bool
}

// Run prints a trace to stdout, and problems with it to stderr, until the trace ends or ctx is
// done. A stdout that is closed, as by head, is no error.
func Run(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	filter, err := calls.ParseFilter(o.Filters)
	if err != nil {
		return err
	}
	in, err := o.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer in.Close()
	out := bufio.NewWriterSize(stdout, 64<<10)
	po := PrinterOptions{Frames: o.Frames, Verbose: o.Verbose, JSON: o.JSON, Color: o.Color, Filter: filter}
	v := &viewer{opts: o, out: out, stderr: stderr, printer: NewPrinter(out, po)}
	if o.Stats {
		v.printer = newStats(out, po)
	}
	err = errors.Join(v.read(in), v.end())
	if system.Closed(err) {
		return nil
	}
	return err
}

// open opens the source of the records.
func (o *Options) open(ctx context.Context, stderr io.Writer) (io.ReadCloser, error) {
	if !o.Follow || o.File == files.Stdin {
		return files.Open(ctx, o.File, o.Stdin)
	}
	switch file, err := os.Open(o.File); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(stderr, "toolman: waiting for %s\n", o.File)
	case err != nil:
		return nil, err
	default:
		file.Close()
	}
	return files.Follow(ctx, o.File, files.Poll), nil
}

// A viewer reads records and shows them.
type viewer struct {
	opts    Options
	out     *bufio.Writer
	stderr  io.Writer
	printer interface {
		Print(*trace.Record) error
		Close() error
	}

	records, bad int
}

func (v *viewer) read(in io.Reader) error {
	for r, err := range trace.Read(in) {
		if err != nil {
			if err := v.skip(err); err != nil {
				return err
			}
			continue
		}
		v.records++
		err = v.printer.Print(r)
		if err == nil && (v.opts.Follow || v.opts.File == "-") {
			err = v.out.Flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skip counts a line that is no record, and returns any other error.
func (v *viewer) skip(err error) error {
	line, ok := errors.AsType[*trace.LineError](err)
	switch {
	case !ok:
		return fmt.Errorf("reading %s: %w", v.opts.File, err)
	case v.opts.Follow && errors.Is(err, trace.ErrTorn): // it is being written
		return nil
	}
	if v.bad++; v.bad == 1 {
		fmt.Fprintf(v.stderr, "toolman: %s:%d is skipped: %s\n", v.opts.File, line.Line, clean(line.Err.Error()))
	}
	return nil
}

func (v *viewer) end() error {
	if v.records == 0 && v.bad == 0 {
		fmt.Fprintf(v.stderr, "toolman: %s holds no records\n", v.opts.File)
	}
	if v.records == 0 && v.bad > 0 {
		return files.NotTrace(v.opts.File)
	}
	if v.bad > 1 {
		fmt.Fprintf(v.stderr, "toolman: %s: %d lines in all are no trace records and were skipped\n", v.opts.File, v.bad)
	}
	return errors.Join(v.printer.Close(), v.out.Flush())
}
