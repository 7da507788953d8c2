package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

// maxFiles is how many files one server shows. The page has a stream for each, and browsers have at
// most six connections to a server.
const maxFiles = 4

const openHelp = `open shows traces on a page in a browser: calls as a sequence, a table and statistics, with every
message, while the files grow. It prints the address of the page, and serves it until it is
interrupted. A file that does not exist yet is waited for; - is standard input.

Without FILE it shows the newest trace that was given no file (see "toolman trace list").

The page can be reached from this machine only, and only with the token in its address: whoever has
the address can read the traces. It loads nothing from elsewhere. If "toolman trace open" is started
again for the same files, a page that is still open continues.`

const openExample = `  toolman trace open session.jsonl             also while it is being written
  toolman trace open before.jsonl after.jsonl  two runs, and their differences
  toolman trace open --last --browser          the newest trace, in the browser`

// An opening is how toolman trace open was called.
type opening struct {
	args           []string
	last           bool
	port           int
	browser        bool
	stdin          io.Reader
	stdout, stderr io.Writer
}

// NewOpen returns the command open.
func NewOpen() *cobra.Command {
	var o opening
	cmd := &cobra.Command{
		Use:     "open [FILE]...",
		Short:   "Show traces on a page in a browser, also while they grow",
		Long:    openHelp,
		Example: openExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.stdin, o.stdout, o.stderr = args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.last, "last", false, "the newest trace that was given no file, in place of FILE")
	cmd.Flags().IntVar(&o.port, "port", 0, "listen on this `port` (default: the one that these files had last, or any)")
	cmd.Flags().BoolVar(&o.browser, "browser", false, "open the page in the browser")
	return cmd
}

func (o *opening) run(ctx context.Context) error {
	if o.port < 0 || o.port >= 1<<16 {
		return cli.Usage(fmt.Errorf("--port %d is not a port", o.port), "give one from 1 to 65535")
	}
	paths, err := o.resolve()
	if err != nil {
		return err
	}
	shown, done, err := o.open(ctx, paths)
	defer done()
	if err != nil {
		return err
	}
	store, err := openAddresses()
	if err != nil {
		return cli.Failed(err, "set XDG_STATE_HOME or HOME")
	}
	l, at, err := listen(o.port, absolute(paths), store)
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/?token=%s", at.Port, at.Token)
	fmt.Fprintf(o.stdout, "%s\n", url)
	if o.browser {
		closed, err := browse(url, filepath.Dir(store.path))
		if err != nil {
			fmt.Fprintf(o.stderr, "toolman: no browser could be started: %v; open the address above\n", err)
		}
		defer closed()
	}
	return newServer(ctx, shown, at.Token, at.Port).serve(ctx, l)
}

// resolve returns the paths of the traces.
func (o *opening) resolve() ([]string, error) {
	switch {
	case o.last && len(o.args) > 0:
		return nil, cli.Usage(errors.New("--last stands in place of FILE"), "leave out one of them")
	case len(o.args) > maxFiles:
		return nil, cli.Usage(fmt.Errorf("open shows at most %d files, not %d", maxFiles, len(o.args)), "name fewer")
	case len(o.args) == 0:
		path, err := files.Resolve("", true)
		if err != nil {
			return nil, err
		}
		if !o.last {
			fmt.Fprintf(o.stderr, "toolman: showing %s, the newest trace\n", path)
		}
		return []string{path}, nil
	}
	var paths []string
	for _, arg := range o.args {
		path, err := files.Resolve(arg, false)
		if errors.Is(err, fs.ErrNotExist) && isPath(arg) {
			fmt.Fprintf(o.stderr, "toolman: waiting for %s\n", arg)
			path, err = arg, nil
		}
		if err == nil {
			err = files.Check(path)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// isPath reports whether an argument looks like the path of a file that may still be made, and not
// like a run.
func isPath(arg string) bool {
	return filepath.Ext(arg) != "" || strings.ContainsRune(filepath.ToSlash(arg), '/')
}

// open returns the files that the server shows. The caller has to call done in any case.
func (o *opening) open(ctx context.Context, paths []string) (shown []file, done func(), err error) {
	var copies []string
	done = func() {
		for _, path := range copies {
			os.Remove(path)
		}
	}
	for i, path := range paths {
		f := file{id: "f" + strconv.Itoa(i), path: path, name: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
		info, err := os.Stat(path)
		switch {
		case path == files.Stdin:
			f.name = "standard input"
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, done, cli.Failed(err, "name a file that this user may read")
		case err == nil && info.IsDir():
			return nil, done, cli.Usage(fmt.Errorf("%s is a directory", path), "name the file of a trace")
		}
		if path == files.Stdin || err == nil && !info.Mode().IsRegular() { // no place in it can be read twice
			if f.path, err = o.copy(ctx, path); err != nil {
				return nil, done, cli.Failed(err, "write the trace into a file, and open that")
			}
			copies = append(copies, f.path)
		}
		shown = append(shown, f)
	}
	return shown, done, nil
}

// copy copies what can be read once into a file, as it comes.
func (o *opening) copy(ctx context.Context, path string) (string, error) {
	from, err := files.Open(ctx, path, o.stdin)
	if err != nil {
		return "", err
	}
	to, err := os.CreateTemp("", "toolman-trace-*.jsonl") // mode 0600
	if err != nil {
		from.Close()
		return "", err
	}
	context.AfterFunc(ctx, func() { from.Close() })
	go func() {
		defer to.Close()
		defer from.Close()
		if _, err := io.Copy(to, from); err != nil && ctx.Err() == nil {
			fmt.Fprintf(o.stderr, "toolman: reading %s: %v\n", path, err)
		}
	}()
	return to.Name(), nil
}

// absolute returns paths that mean the same files from everywhere.
func absolute(paths []string) []string {
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = path
		if abs, err := filepath.Abs(path); err == nil && path != files.Stdin {
			all[i] = abs
		}
	}
	return all
}

// listen listens on loopback: on the wanted port, or on the one that these files had last, or on
// any, if that is taken.
func listen(port int, paths []string, store addresses) (net.Listener, address, error) {
	at := address{Files: paths, Port: port, Token: newToken()}
	again := !slices.Contains(paths, files.Stdin) // another run can show the same
	if known := store.of(paths); again && known != nil && (port == 0 || port == known.Port) {
		at = *known
	}
	on := func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	l, err := on(at.Port)
	taken := err != nil && port == 0 // by another program, or by the same command for the same files
	if taken {
		at.Token = newToken()
		l, err = on(0)
	}
	if err != nil {
		return nil, at, cli.Failed(err, "leave out --port, or give another one")
	}
	at.Port = l.Addr().(*net.TCPAddr).Port
	if again && !taken {
		store.remember(at) // without it, a page that is open does not connect again; nothing else is lost
	}
	return l, at, nil
}
