package spawn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A Command says what to run and with what surroundings. It is not modified.
type Command struct {
	// Name is what error messages call this child, such as the server's name.
	Name string
	// Argv is the program and its arguments. A program without a slash is looked up in the PATH of Env.
	Argv []string
	// Env is the whole environment of the child, as KEY=value; of duplicates the last counts.
	Env []string
	// Dir is the child's working directory; "" means that of this process.
	Dir string
	// Stderr, if not nil, gets every line the child writes to its standard error, from one goroutine:
	// without line end, control characters, escape sequences and direction marks, cut at 4 KiB, blank lines left out.
	// It must be quick. When it is not, lines are dropped and their number is reported as a line of its own.
	Stderr func(line string)
	// PipeSize is how many bytes each of stdin and stdout should hold; 0 means 1 MiB. It is a wish that Linux alone knows to grant.
	// When the pipes of an unprivileged user add up to 64 MiB (fs.pipe-user-pages-soft), every further pipe of
	// all his programs shrinks to 8 KiB: with some 30 children or more, wish for less.
	PipeSize int
}

// Start runs c. If g is not nil, the child and all it starts do not outlive this process.
// Start does not wait for the child to do anything. Signals that this process ignores (signal.Ignore) the child ignores too. Its error says which command could not run, why, and what to do;
// it never holds arguments or environment, which may be secret.
func Start(c Command, g *Guard) (*Process, error) {
	p, err := start(&c, g)
	if err != nil {
		return nil, explain(&c, err)
	}
	return p, nil
}

func start(c *Command, g *Guard) (*Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("the command is empty; write the program to run")
	}
	env := Environ(c.Env, g.environ())
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
	s.closeTheirs()
	if err != nil {
		s.closeOurs()
		return nil, err
	}
	return attend(child, s, c.Stderr, g), nil
}

// checkDir comes before the fork, whose ENOENT would not tell a missing directory from a missing program.
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

// explain adds to err which command it is about and, for what the kernel says in one word, what to do.
func explain(c *Command, err error) error {
	program := ""
	if len(c.Argv) > 0 {
		program = c.Argv[0]
	}
	if hint := hintFor(err); hint != "" {
		return fmt.Errorf("%s: running %q: %w; %s", c.Name, program, err, hint)
	}
	return fmt.Errorf("%s: running %q: %w", c.Name, program, err)
}
