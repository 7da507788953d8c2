package remove

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace"
)

// A sum counts lines.
type sum struct{ lines, changed, bad int }

// write writes the trace to a file that only its owner can read, or to standard output. The file is
// there as a whole or not at all.
func (r *remover) write(in io.Reader, name string, stdout io.Writer) (s sum, err error) {
	if name == files.Stdin {
		return r.copy(in, stdout)
	}
	err = files.Replace(name, func(out io.Writer) error {
		s, err = r.copy(in, out)
		return err
	})
	return s, err
}

// copy copies the lines of a trace without what is to be removed. It leaves out lines that are no
// records, because nobody can say what is in them.
func (r *remover) copy(in io.Reader, to io.Writer) (s sum, err error) {
	out := bufio.NewWriterSize(to, 64<<10)
	for rec, err := range trace.Read(in) {
		if _, bad := errors.AsType[*trace.LineError](err); bad {
			s.bad++
			continue
		}
		if err != nil {
			return s, err
		}
		line, changed := r.line(rec)
		s.lines++
		if changed {
			s.changed++
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return s, err
		}
	}
	return s, out.Flush()
}

// report says what was removed.
func (r *remover) report(to io.Writer, s sum) {
	fmt.Fprintf(to, "toolman: %d of %s changed\n", s.changed, cli.Count(s.lines, "line"))
	for _, k := range r.keys {
		fmt.Fprintf(to, "%6d  --key %s\n", k.found, k.text)
	}
	for _, p := range r.paths {
		fmt.Fprintf(to, "%6d  --path %s\n", p.found, p.text)
	}
	if r.values != nil {
		fmt.Fprintf(to, "%6d  by value\n", r.found)
		if r.values.OnlyWhole() {
			fmt.Fprintln(to, "toolman: values of 2 or 3 bytes are only found as whole strings and numbers")
		}
	}
	if r.cut > 0 {
		fmt.Fprintf(to, "%6d  messages that the trace has only in part, where paths cannot be followed\n", r.cut)
	}
	if s.bad > 0 {
		fmt.Fprintf(to, "%6d  lines that are no trace records, and were left out\n", s.bad)
	}
}
