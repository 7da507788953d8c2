package initcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"toolman/cmd/internal/cli"
)

// An asker asks the user on a terminal.
type asker struct {
	in    *os.File
	lines *bufio.Reader
	out   io.Writer
	yes   bool // take the defaults
}

func newAsker(in *os.File, out io.Writer, yes bool) *asker {
	return &asker{in: in, lines: bufio.NewReader(in), out: out, yes: yes || !cli.IsTerminal(in)}
}

// ask asks a question with some answers, of which the first is the default. An answer is known by
// its first letter.
func (a *asker) ask(ctx context.Context, question string, answers ...string) (string, error) {
	if a.yes {
		return answers[0], nil
	}
	letters := strings.ToUpper(answers[0][:1])
	for _, answer := range answers[1:] {
		letters += "/" + answer[:1]
	}
	for {
		fmt.Fprintf(a.out, "%s [%s] ", question, letters)
		line, err := a.line(ctx)
		if err != nil {
			fmt.Fprintln(a.out)
			return "", err
		}
		line = strings.ToLower(strings.TrimSpace(line))
		if line == "" {
			return answers[0], nil
		}
		for _, answer := range answers {
			if line == answer || line == answer[:1] {
				return answer, nil
			}
		}
		fmt.Fprintf(a.out, "Answer %s.\n", strings.Join(answers, ", "))
	}
}

// line reads a line, unless ctx ends first.
func (a *asker) line(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() { // which ends with the process if nobody answers
		line, err := a.lines.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		if r.err != nil && r.line == "" {
			return "", cli.Failed(fmt.Errorf("no answer: %w; nothing is changed", r.err), "--yes takes the defaults")
		}
		return r.line, nil
	case <-ctx.Done():
		return "", cli.Failed(fmt.Errorf("interrupted; nothing is changed"), "")
	}
}
