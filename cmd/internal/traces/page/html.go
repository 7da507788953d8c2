package page

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

const htmlHelp = `html writes traces and the page that shows them into one file, for a bug report or for later. The
file needs no server and no network: open it in a browser. It holds everything that the traces
hold; "toolman trace redact" removes more from a trace first.`

const htmlExample = `  toolman trace html session.jsonl -o session.html
  toolman trace html before.jsonl after.jsonl -o both.html   two runs, and their differences
  toolman trace html --last -o newest.html`

// NewHTML returns the command html.
func NewHTML() *cobra.Command {
	var out string
	var last bool
	cmd := &cobra.Command{
		Use:     "html FILE... -o FILE",
		Short:   "Write traces and the page that shows them into one file",
		Long:    htmlHelp,
		Example: htmlExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case out == "":
				return cli.Usage(errors.New("html needs the name of the file to write"), "give it with -o; -o - is standard output")
			case last == (len(args) > 0):
				return cli.Usage(errors.New("html needs the name of a trace, or --last"), "toolman trace list lists the traces that were given no file")
			case last:
				args = []string{""}
			}
			var paths []string
			for _, arg := range args {
				path, err := files.Resolve(arg, last)
				if err == nil {
					err = files.Check(path)
				}
				if err != nil {
					return err
				}
				paths = append(paths, path)
			}
			return export(cmd.Context(), paths, out, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write; - is standard output")
	cmd.Flags().BoolVar(&last, "last", false, "the newest trace that was given no file, in place of FILE")
	return cmd
}

// export writes the page with the traces at some paths to the file out. What was there before stays
// until all of it is written.
func export(ctx context.Context, paths []string, out string, stdin io.Reader, stdout io.Writer) error {
	if out == "-" {
		return writePage(ctx, stdout, paths, stdin)
	}
	for _, path := range paths {
		if files.IsSame(path, out) {
			return cli.Usage(fmt.Errorf("%s is the trace itself", out), "give another file for -o")
		}
	}
	return files.Replace(out, func(to io.Writer) error { return writePage(ctx, to, paths, stdin) })
}

// dataFor is the start of the element that has a trace; see writeTrace.
const dataFor = `<script type="application/json" id="toolman-data">`

// writePage writes the page with traces in it. It has a trace in memory a piece at a time.
func writePage(ctx context.Context, to io.Writer, paths []string, stdin io.Reader) error {
	out := bufio.NewWriterSize(to, 64<<10)
	head, body := bytes.Index(template, []byte("<meta")), bytes.LastIndex(template, []byte("<script"))
	if head < 0 || body < head {
		return errors.New("the page that is built into this toolman is not complete")
	}
	out.Write(template[:head])
	fmt.Fprintf(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policyOf(template, ""))
	out.Write(template[head:body])
	for _, path := range paths {
		if err := writeTrace(ctx, out, path, stdin); err != nil {
			return err
		}
	}
	if len(paths) == 2 && !slices.Contains(paths, files.Stdin) {
		if text, err := diff(ctx, side{path: paths[0]}, side{path: paths[1]}); err == nil { // else there is nothing to compare
			fmt.Fprintf(out, "%s{\"diff\":%s}</script>\n", dataFor, bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`)))
		}
	}
	out.Write(template[body:])
	return out.Flush()
}

// pieceBytes is about how much of a trace is in one string.
const pieceBytes = 256 << 10

// writeTrace writes an element with a trace, which is never run: {"name":…,"lines":[…]}. The lines
// are the whole file in strings of whole lines, because a browser may limit the length of a string,
// and stores one in twice the memory if a character needs it.
func writeTrace(ctx context.Context, out *bufio.Writer, path string, stdin io.Reader) error {
	in, err := files.Open(ctx, path, stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	name := "standard input"
	if path != files.Stdin {
		name = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	out.WriteString(dataFor + `{"name":"`)
	if _, err := writeText(out, bufio.NewReader(strings.NewReader(name))); err != nil {
		return err
	}
	out.WriteString(`","lines":["`)
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		more, err := writeText(out, lines)
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if !more {
			break
		}
		out.WriteString("\",\n\"")
	}
	_, err = out.WriteString("\"]}</script>\n")
	return err
}

// writeText writes a text as the inside of a JSON string, up to the first line end after a piece,
// and reports whether there may be more. Without <, nothing in it can end the element that it is
// in, or begin a comment there.
func writeText(out *bufio.Writer, in *bufio.Reader) (more bool, err error) {
	for n := 0; ; {
		r, size, err := in.ReadRune()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		n += size
		switch {
		case r == '"', r == '\\':
			out.WriteByte('\\')
			err = out.WriteByte(byte(r))
		case r == '\n':
			_, err = out.WriteString(`\n`)
		case r < ' ', r == '<', r == 0x7f, r == '\u2028', r == '\u2029', r == utf8.RuneError:
			_, err = out.Write(appendEscape(out.AvailableBuffer(), r))
		default:
			_, err = out.WriteRune(r)
		}
		if err != nil || r == '\n' && n >= pieceBytes {
			return true, err
		}
	}
}
