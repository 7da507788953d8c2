package spawn

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A Command is a program to run, with its arguments and environment.
type Command struct {
	// Name is the name of the child in error messages, such as the name of the server.
	Name string
	// Argv is the program and its arguments. A program without a slash is searched in the PATH of
	// Env.
	Argv []string
	// Env is the whole environment of the child, as KEY=value. The last of duplicates counts.
	Env []string
	// Dir is the working directory of the child; "" is that of this process.
	Dir string
	// Stderr, if not nil, gets each line of the child's standard error that is not blank, from one
	// goroutine. Lines are sanitized and cut at 4 KiB. If Stderr is slow, lines are dropped, and
	// another line reports their number.
	Stderr func(line string)
	// StderrFile, if not nil, is the child's standard error in place of a pipe that this package
	// reads. Start closes it.
	StderrFile *os.File
	// PipeSize is the size of the pipes for stdin and stdout in bytes; 0 is 1 MiB. Only Linux can
	// change it. When the pipes of an unprivileged user reach 64 MiB (fs.pipe-user-pages-soft), all
	// further pipes of that user have 8 KiB, so use less with 30 children or more.
	PipeSize int
}

// Start runs c and does not wait. If r is not nil, the child and its own children do not outlive
// this process. The child ignores the signals that this process ignores (signal.Ignore). An error
// says which command could not run, why, and what to do. It contains no arguments and no
// environment, which may be secret.
func Start(c Command, r *Reaper) (*Process, error) {
	p, err := start(&c, r)
	if err != nil {
		return nil, explain(&c, err)
	}
	return p, nil
}

func start(c *Command, r *Reaper) (*Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("the command is empty; write the program to run")
	}
	env := Environ(c.Env, r.environ())
	if err := checkDir(c.Dir); err != nil {
		return nil, err
	}
	path, err := lookPath(c.Argv[0], c.Dir, env)
	if err != nil {
		return nil, err
	}
	s, err := newStreams(c)
	if err != nil {
		return nil, err
	}
	child, err := startChild(path, c, env, s)
	s.closeChilds()
	if err != nil {
		s.close()
		return nil, err
	}
	return newProcess(child, s, c.Stderr, r), nil
}

// checkDir runs before the fork, whose ENOENT means a missing directory or a missing program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("its working directory %q does not exist; create it or correct cwd: %w", dir, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("its working directory cannot be used; correct cwd: %w", err)
	case !info.IsDir():
		return fmt.Errorf("its working directory %q is a file; correct cwd: %w", dir, syscall.ENOTDIR)
	}
	return nil
}

// explain adds the command to err and, for an error of the kernel, what to do.
func explain(c *Command, err error) error {
	program := ""
	if len(c.Argv) > 0 {
		program = c.Argv[0]
	}
	if hint := hint(err); hint != "" {
		return fmt.Errorf("%s: running %q: %w; %s", c.Name, program, err, hint)
	}
	return fmt.Errorf("%s: running %q: %w", c.Name, program, err)
}

// streams are the three pipes between this process and a child. The ends of stdin and stdout are
// blocking descriptors outside Go's poller. Our end of stderr is in the poller, so that reading it
// takes no thread and can have a deadline.
type streams struct {
	stdin, stdout, stderr                *os.File // ours
	childStdin, childStdout, childStderr *os.File
}

// defaultPipeSize halves the time for large messages, compared with the 64 KiB of Linux.
const defaultPipeSize = 1 << 20

func newStreams(c *Command) (*streams, error) {
	s := new(streams)
	size := cmp.Or(c.PipeSize, defaultPipeSize)
	var err error
	s.childStdin, s.stdin, err = newPipe(c.Name+" stdin", size)
	if err == nil {
		s.stdout, s.childStdout, err = newPipe(c.Name+" stdout", size)
	}
	if err == nil {
		s.stderr, s.childStderr, err = newPolledPipe(c.Name + " stderr")
	}
	if err != nil {
		s.closeChilds()
		s.close()
		return nil, err
	}
	if c.StderrFile != nil {
		s.childStderr.Close()
		s.childStderr = c.StderrFile
	}
	return s, nil
}

// Closing a nil *os.File does nothing.

func (s *streams) closeChilds() {
	s.childStdin.Close()
	s.childStdout.Close()
	s.childStderr.Close()
}

func (s *streams) close() {
	s.stdin.Close()
	s.stdout.Close()
	s.stderr.Close()
}
