package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/hook"
	"toolman/spawn"
)

const (
	FlushTime  = 50 * time.Millisecond // for the last bytes to the client and the log, which may read no more
	fileTime   = 2 * time.Second       // for the last lines of the trace and the audit log: the machine may be busy
	traceQueue = 32 << 20              // bytes of the trace that may wait for a slow disk
)

// An Engine is what a router runs on.
type Engine struct {
	RouterOptions router.Options
	Loop          *peer.Loop
	Log           *zap.Logger
	Secrets       *redact.Scrubber // removes secrets from the log

	Reaper func() *spawn.Reaper // waits for the process that ends orphaned servers; nil: there is none
	hooks  *hook.Runner
	socket string // of --debug; "": there is none
}

// Run opens an engine, calls serve, and closes the engine when that returns. The log is written to
// logTo. The end of ctx, by a signal, ends what the router has under way.
func Run(ctx context.Context, f *Flags, c *config.Config, logTo io.Writer, serve func(*Engine) error) error {
	e := &Engine{}
	var close func()
	var err error
	if e.Log, e.Secrets, close, err = OpenLog(f.LogLevel, logTo, c.Secrets); err != nil {
		return err
	}
	defer close()
	defer e.startReaper()()
	e.hooks = hook.NewRunner(e.Log.Named("hook"), e.Reaper)
	defer e.hooks.Close()
	e.Log.Info("starting", zap.String("config", c.Path), zap.String("why", c.Why), zap.Int("servers", len(c.Servers)), zap.String("agent", c.Agent))
	if e.RouterOptions, err = e.Configure(c); err != nil {
		return err
	}
	e.RouterOptions.Run, e.RouterOptions.Signalled = strings.ToLower(rand.Text()[:6]), ctx
	if close, err = e.openAudit(c); err != nil {
		return err
	}
	defer close()
	if close, err = e.openDebug(f); err != nil {
		return err
	}
	defer close()
	if e.RouterOptions.Trace, err = e.openTrace(f, c); err != nil {
		return err
	}
	if e.RouterOptions.Trace != nil {
		defer e.RouterOptions.Trace.Close(fileTime)
		e.RouterOptions.Debug.TraceTo(e.RouterOptions.Trace)
	}
	if e.Loop, err = peer.NewLoop(); err != nil {
		return err
	}
	defer e.Loop.Close()
	return serve(e)
}

// Configure returns the options for a configuration, and logs its warnings and why its equipped
// toolset cannot be used.
func (e *Engine) Configure(c *config.Config) (router.Options, error) {
	for _, w := range c.Warnings {
		e.Log.Warn(w.String())
	}
	o, err := setup.FullOptions(c, e.Secrets, func(err error) { e.Log.Warn("no toolset is equipped at start", zap.NamedError("err", err)) })
	o.Hooks = e.hooks
	return o, err
}

// startReaper starts the reaper in the background. Call done once the servers have ended.
func (e *Engine) startReaper() (done func()) {
	e.Reaper = sync.OnceValue(func() *spawn.Reaper {
		g, err := spawn.StartReaper()
		if err != nil {
			e.Log.Warn("no reaper process: servers may outlive a killed toolman", zap.NamedError("err", err))
		}
		return g
	})
	go e.Reaper()
	return func() { e.Reaper().Close() }
}

// openAudit opens the audit log that the configuration names, if any.
func (e *Engine) openAudit(c *config.Config) (close func(), err error) {
	if c.AuditLog == "" {
		return func() {}, nil
	}
	file, err := trace.Open(c.AuditLog) // every run appends
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("the audit log cannot be written: %w", err), "let audit_log in "+c.Path+" name a file in a folder that exists and may be written to")
	}
	warn := func(err error) { e.Log.Error("the audit log is not complete", zap.NamedError("err", err)) }
	w := audit.NewWriter(file, audit.Options{Arguments: c.AuditArguments, Scrub: e.Secrets, Warn: warn})
	e.RouterOptions.Audit = w
	return func() {
		if err := w.Close(fileTime); err != nil {
			warn(err)
		}
		file.Close()
	}, nil
}

// openTrace opens the trace that --trace or TOOLMAN_TRACE names, if any.
func (e *Engine) openTrace(f *Flags, c *config.Config) (*trace.Writer, error) {
	name := f.Trace
	if name == "" {
		name = os.Getenv("TOOLMAN_TRACE")
	}
	if name == "" && f.Debug {
		name = files.Auto // the page finds the socket there
	}
	if name == "" {
		return nil, nil
	}
	out := f.Stderr
	if name != "-" {
		file, err := openTraceFile(name, e.RouterOptions.Run, c)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("the trace cannot be written: %w", err), "name a file in a folder that exists and may be written to, or - for standard error")
		}
		out = file
	}
	s := trace.Session{Run: e.RouterOptions.Run, Toolman: setup.Version(), Go: runtime.Version(), Config: c.Path, Debug: e.socket, Upstreams: setup.TraceServers(c)}
	s.Cwd, _ = os.Getwd()
	return trace.NewWriter(out, trace.Options{Session: s, Secrets: e.Secrets.Secrets, MaxMsg: f.TraceMax, QueueBytes: traceQueue,
		Warn: func(err error) { e.Log.Warn("the trace is not complete", zap.NamedError("err", err)) }}), nil
}

// openTraceFile opens the file of a trace. In the state directory, each run has a file of its own;
// to others, runs append: a client may start toolman more than once.
func openTraceFile(name, run string, c *config.Config) (*os.File, error) {
	if name != files.Auto {
		return trace.Open(name)
	}
	what := strings.TrimSuffix(filepath.Base(c.Path), filepath.Ext(c.Path))
	if what == "tools" { // as most are; the folder says more
		what = filepath.Base(filepath.Dir(c.Path))
	}
	return files.Create(run, what)
}

// Flags are the process's standard files and the flags that several commands have.
type Flags struct {
	setup.Flags
	Stdout, Stderr *os.File
	Served         bool // a client is served on standard input and output

	LogLevel string // --log-level
	Trace    string // --trace
	TraceMax int    // --trace-max
	Debug    bool   // --debug
}

// AddTrace gives a command the flags --trace and --trace-max.
func (f *Flags) AddTrace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Trace, "trace", "", "write every message to `file` as JSON lines; - is standard error, auto a file that toolman trace list lists (also TOOLMAN_TRACE)")
	cmd.Flags().IntVar(&f.TraceMax, "trace-max", 1<<20, "how many `bytes` of a message the trace keeps")
}

// AddDebug gives a command the flag --debug.
func (f *Flags) AddDebug(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.Debug, "debug", false, "let the page of toolman trace open stop and change messages; also traces to the state directory, unless --trace names a file")
}

// DefaultLogLevel sets the log level of a command, unless --log-level is given.
func (f *Flags) DefaultLogLevel(cmd *cobra.Command, level string) {
	if !cmd.Flags().Changed("log-level") {
		f.LogLevel = level
	}
}

// Check loads the configuration and starts its servers, as the function Check does.
func (f *Flags) Check(ctx context.Context) (*config.Config, *Servers, error) {
	c, err := f.Load()
	if err != nil {
		return nil, nil, err
	}
	s, err := Check(ctx, c, f.Stderr)
	return c, s, err
}
