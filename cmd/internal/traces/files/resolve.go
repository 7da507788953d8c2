package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/trace"
)

// Stdin is the path of standard input.
const Stdin = "-"

// NotTrace returns the error for a file that has lines, but none of a trace.
func NotTrace(path string) error {
	return cli.Failed(fmt.Errorf("%s is not a trace: no line is a record", path), "name a file that toolman --trace has written")
}

// Check returns the error of NotTrace if none of the first lines of a file is a record. A file that
// is empty, missing or no regular file may become a trace.
func Check(path string) error {
	const most = 100
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	bad := 0
	for _, err := range trace.Read(f) {
		switch _, line := errors.AsType[*trace.LineError](err); {
		case err == nil:
			return nil
		case !line:
			return err
		case errors.Is(err, trace.ErrTorn): // it may still be written
			return nil
		}
		if bad++; bad == most {
			break
		}
	}
	if bad == 0 {
		return nil
	}
	return NotTrace(path)
}

// Resolve returns the path of the trace that an argument of a command means: a path, "-" for
// standard input, or the run or the file name of a trace in Dir, of which a start is enough if no
// other has it. With last it returns the newest trace in Dir, and ignores arg. An error for a trace
// that is not there is an fs.ErrNotExist.
func Resolve(arg string, last bool) (string, error) {
	if !last && (arg == Stdin || exists(arg)) {
		return arg, nil
	}
	if !last && strings.ContainsRune(filepath.ToSlash(arg), '/') {
		return "", missing(arg)
	}
	all, err := List()
	switch {
	case err != nil && last:
		return "", cli.Failed(err, "name the file of a trace")
	case len(all) > 0 && last:
		return all[len(all)-1].File, nil
	case last:
		dir, _ := Dir()
		return "", cli.Failed(fmt.Errorf("no traces in %s: %w", dir, fs.ErrNotExist), "toolman tap and toolman --trace auto write there")
	}
	found := slices.DeleteFunc(slices.Clone(all), func(t Trace) bool { return !t.startsWith(arg) })
	for _, t := range found {
		if arg == t.Run || arg == t.Name() {
			found = []Trace{t}
		}
	}
	switch {
	case len(found) == 1:
		return found[0].File, nil
	case len(found) > 1:
		return "", cli.Usage(fmt.Errorf("%q is the start of %d traces, such as %s and %s", arg, len(found), found[0].Name(), found[1].Name()),
			"write more of the run or the file name; toolman trace list lists them")
	}
	return "", unknown(arg, all)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// startsWith reports whether the trace's run or file name starts with arg.
func (t *Trace) startsWith(arg string) bool {
	return arg != "" && (strings.HasPrefix(t.Run, arg) || strings.HasPrefix(t.Name(), arg))
}

// unknown returns an error for an argument that means no trace.
func unknown(arg string, all []Trace) error {
	var names []string
	for _, t := range slices.Backward(all) {
		names = append(names, t.Run, t.Name())
	}
	err := missing(arg)
	err.Hint = cli.DidYouMean(arg, names, "", err.Hint)
	return err
}

func missing(arg string) *cli.Error {
	err := &cli.Error{Err: &fs.PathError{Op: "open", Path: arg, Err: fs.ErrNotExist}, Code: cli.ExitFailed}
	if err.Hint = "toolman trace list lists the traces that were given no file"; filepath.Ext(arg) != "" {
		err.Hint = "write one with toolman --trace " + arg + " or TOOLMAN_TRACE; toolman trace -f waits for it"
	}
	return err
}

// Open opens a trace that Resolve has found. The end of ctx ends the reading of standard input.
func Open(ctx context.Context, path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == Stdin {
		return io.NopCloser(Interruptible(ctx, stdin)), nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(path)
	}
	return f, err
}
