package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/demo/demoserver"
	"toolman/mcpwire/system"
)

const traceName = "trace.jsonl" // in the temporary directory

// Options say how a demo is run.
type Options struct {
	Program string        // the toolman to show: an absolute path
	Name    string        // what the user calls it
	Keep    bool          // keep the temporary directory, with the trace and the log
	Limit   time.Duration // for the whole demo
	Stdout  io.Writer
}

// Run plays the demo and returns nil if everything was as expected; an error says which step was
// not, and why. It ends soon after ctx is done. It also ends when Stdout is closed, as by head,
// which is no error. It leaves no process behind, and no file without Keep.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limit, fmt.Errorf("the demo was not over within %v", o.Limit))
	defer cancel()
	dir, err := os.MkdirTemp("", "toolman-demo-")
	if err != nil {
		return err
	}
	s := newScreen(o.Stdout)
	err = play(ctx, s, o.Program, dir)
	if errors.Is(err, errClosed) {
		err = nil
	}
	if err == nil {
		s.closing(o.Name)
	}
	if o.Keep {
		fmt.Fprintf(s.out, "\nKept in %s: tools.toml, the log, and the trace. To read it:\n   %s trace %s\n", dir, o.Name, filepath.Join(dir, traceName))
		return err
	}
	return errors.Join(err, Remove(dir))
}

// Remove removes a directory that holds only files. os.RemoveAll needs a system call that Wine 8 does
// not have.
func Remove(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed error
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		failed = errors.Join(failed, system.Retry(func() error { return os.Remove(path) }))
	}
	return errors.Join(failed, os.Remove(dir))
}

// play starts a gateway in dir, goes through the script and ends the gateway.
func play(ctx context.Context, s *screen, program, dir string) error {
	config, err := writeConfig(dir, patient+configText(program))
	if err != nil {
		return err
	}
	s.opening(configText(program))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c, err := startClient(ctx, s, program, config, filepath.Join(dir, traceName), log)
	if err != nil {
		return err
	}
	defer c.stop()
	for i, step := range script() {
		s.headline(i+1, step.title)
		if err := step.play(c); err != nil {
			_ = c.end(abortTime) // the step's error explains more
			s.failed(log)
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// patient is for the step that activates tools: on a busy machine the client may need longer than
// the second that is the default. The screen leaves it out.
const patient = "settle_ms = 10000  # how long an activation waits for the client to read the changed list\n"

// WriteConfig writes a tools.toml with the demo's servers, run by program, into dir and returns its
// path.
func WriteConfig(dir, program string) (path string, err error) {
	return writeConfig(dir, configText(program))
}

func writeConfig(dir, text string) (path string, err error) {
	path = filepath.Join(dir, "tools.toml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func configText(program string) string {
	if quoted, err := syntax.Quote(program, syntax.LangPOSIX); err == nil {
		program = quoted
	}
	var b strings.Builder
	b.WriteString("active_toolsets = [\"notes_list\", \"notes_find\", \"notes_note*\"]  # on at start; the rest is off\n")
	for _, name := range demoserver.Names() {
		fmt.Fprintf(&b, "[[servers]]\nnamespace = %q\ncommand = %s\n", name, strconv.Quote(program+" __demo-server "+name))
	}
	return b.String()
}
