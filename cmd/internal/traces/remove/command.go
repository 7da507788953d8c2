package remove

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace/filter"
	"toolman/jsonrpc/trace/redact"
)

const help = `redact writes a trace again, without more keys, paths and values, so that it can be given away.
What toolman takes for a secret was never written to the trace.

  --key KEY          the values of a key, at any depth, also in JSON in strings; * is any characters
  --path PATH        values in messages: params.arguments.*.body, result.content[*].text, or, only in
                     messages of one method, tools/call:params.arguments["a key"]
  --value-file FILE  a text, wherever it is: as it is, in JSON, URLs, HTML, base64 and hex; - is
                     standard input

"[redacted]" stands in their place, and "redacted" in each line says where.`

const example = `  toolman trace redact session.jsonl -o shared.jsonl --key 'session*' --key email
  toolman trace redact session.jsonl -o shared.jsonl --path 'tools/call:params.arguments.*'
  toolman trace redact session.jsonl --in-place --value-file customer.txt`

// maxValue is the longest text that is removed.
const maxValue = 1 << 20

type flags struct {
	out                             string
	inPlace, last                   bool
	keys, paths, values, valueFiles []string
}

// New returns the command redact.
func New() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "redact FILE (-o OUT | --in-place) [--key KEY]... [--path PATH]... [--value-file FILE]...",
		Short:   "Remove more from a trace, by key, path or value",
		Long:    help,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			switch {
			case !f.last && len(args) == 1:
				name = args[0]
			case !f.last || len(args) > 0:
				return cli.Usage(errors.New("redact needs one trace"), "toolman trace redact FILE -o OUT --key KEY; toolman trace redact --help says more")
			}
			return f.run(cmd, name)
		},
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the trace to this file; - is standard output")
	cmd.Flags().BoolVar(&f.inPlace, "in-place", false, "replace FILE")
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.Flags().StringArrayVar(&f.keys, "key", nil, "remove the values of this key")
	cmd.Flags().StringArrayVar(&f.paths, "path", nil, "remove what is at this path of messages")
	cmd.Flags().StringArrayVar(&f.values, "value", nil, "remove this text, which others can see on the command line: prefer --value-file")
	cmd.Flags().StringArrayVar(&f.valueFiles, "value-file", nil, "remove the text in this file")
	return cmd
}

func (f *flags) run(cmd *cobra.Command, name string) error {
	switch {
	case f.out == "" && !f.inPlace:
		return cli.Usage(errors.New("there is no output"), "-o OUT names a new file; --in-place replaces the trace")
	case f.out != "" && f.inPlace:
		return cli.Usage(errors.New("-o and --in-place exclude each other"), "give one of them")
	}
	in, err := files.Resolve(name, f.last)
	if err != nil {
		return err
	}
	if f.inPlace {
		if f.out = in; in == files.Stdin {
			return cli.Usage(errors.New("standard input cannot be replaced"), "give the file, or -o OUT")
		}
		t := files.Trace{File: in}
		if t.Examine(); t.Live {
			return cli.Failed(fmt.Errorf("%s is still being written", in), "end that session first, or give -o OUT")
		}
	} else if files.IsSame(in, f.out) {
		return cli.Usage(fmt.Errorf("%s is the trace itself", f.out), "--in-place replaces it")
	}
	r, err := f.remover(cmd.InOrStdin(), in)
	if err != nil {
		return err
	}
	if len(f.values) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "toolman: other users and the shell's history can see --value; --value-file reads it from a file")
	}
	trace, err := files.Open(cmd.Context(), in, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer trace.Close()
	sum, err := r.write(trace, f.out, cmd.OutOrStdout())
	if err != nil {
		return cli.Failed(err, "nothing was changed; correct the cause and try again")
	}
	r.report(cmd.ErrOrStderr(), sum)
	return nil
}

// remover reads the flags that say what is removed.
func (f *flags) remover(stdin io.Reader, in string) (*remover, error) {
	if len(f.keys)+len(f.paths)+len(f.values)+len(f.valueFiles) == 0 {
		return nil, cli.Usage(errors.New("nothing is to be removed"), "give --key, --path or --value-file; toolman trace redact --help says more")
	}
	r := &remover{}
	for _, text := range f.keys {
		if text == "" {
			return nil, cli.Usage(errors.New("--key is empty"), "write the key, with * for any characters")
		}
		pattern := strings.ToLower(text)
		none := redact.NewSecrets().Patterns()
		r.keys = append(r.keys, &key{text: text, redactor: redact.Redactor{Patterns: none, Keys: func(key string) bool { return filter.Matches(strings.ToLower(key), pattern) }}})
	}
	for _, text := range f.paths {
		p, err := parsePath(text)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--path %q: %w", text, err), `write it like params.arguments.*[0]["a key"], or with a method: tools/call:params.arguments`)
		}
		r.paths = append(r.paths, p)
	}
	values := f.values
	for _, name := range f.valueFiles {
		if name == files.Stdin && in == files.Stdin {
			return nil, cli.Usage(errors.New("the trace and a value cannot both be standard input"), "give a file for one of them")
		}
		value, err := readValue(name, stdin)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--value-file: %w", err), "give a file with the text to remove")
		}
		values = append(values, value)
	}
	for _, v := range values {
		if redact.NewSecrets(v).Patterns().None() {
			return nil, cli.Usage(fmt.Errorf("a value of %s is too short or too common to be removed", cli.Count(len(v), "byte")), "remove it with --key or --path")
		}
	}
	if len(values) > 0 {
		r.values = &redact.Redactor{Patterns: redact.NewSecrets(values...).Patterns(), Keys: func(string) bool { return false }}
	}
	return r, nil
}

// readValue reads a value from a file, without the line break at its end.
func readValue(name string, stdin io.Reader) (string, error) {
	from := stdin
	if name != files.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxValue+1))
	if err == nil && len(text) > maxValue {
		err = fmt.Errorf("%s is longer than %d bytes", name, maxValue)
	}
	return strings.TrimRight(string(text), "\r\n"), err
}
