package tap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/tap/record"
	"toolman/jsonrpc/trace"
	"toolman/router/breakpoint"
	"toolman/spawn"
)

const (
	// restTime is how long a program that the server has left behind may hold its output open.
	restTime = time.Second
	// flushTime is for the end of the trace.
	flushTime = time.Second
)

// The exit codes of a shell for a command that cannot be started.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// A tap is the tap of one server over stdio.
type tap struct {
	argv    []string
	name    string // of the server
	rec     *record.Recorder
	process *spawn.Process
	reaper  *spawn.Reaper // ends what the server leaves behind; nil if there is none
	pumps   [3]*pump      // standard input, output and error

	debugger *breakpoint.Debugger // of --debug; nil: nothing is stopped
}

// run starts the server and passes everything on. It returns how the server ended, as
// spawn.Process.ExitStatus says it.
func (t *tap) run(stdin, stdout, stderr *os.File) (status string, err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	errs, childErrs, err := os.Pipe()
	if err != nil {
		return "", cli.Failed(err, "raise the limit of open files (ulimit -n)")
	}
	t.reaper, _ = spawn.StartReaper() // without it, only a killed tap leaves the server behind
	t.process, err = spawn.Start(spawn.Command{Name: t.name, Argv: t.argv, Env: os.Environ(), StderrFile: childErrs}, t.reaper)
	if err != nil {
		childErrs.Close()
		errs.Close()
		t.rec.Event(trace.EventExit, "not started: "+err.Error())
		t.reaper.Close()
		return "", notStarted(err)
	}
	t.rec.Event(trace.EventSpawn, fmt.Sprintf("pid %d: %s", t.process.Pid(), strings.Join(t.argv, " ")))
	conn := t.rec.NewConn()
	t.pumps = [3]*pump{
		newPump(stdin, t.process.Stdin(), conn.Messages(trace.In)),
		newPump(t.process.Stdout(), stdout, conn.Messages(trace.Out)),
		newPump(errs, stderr, t.rec.Stderr()),
	}
	if t.debugger != nil {
		stop(t.debugger, t.pumps[0], t.pumps[1], t.dropClient, t.process.KillGroup)
	}
	for _, p := range t.pumps {
		go p.run()
	}
	t.await(signals)
	status = t.process.ExitStatus()
	t.rec.Event(trace.EventExit, status)
	return status, nil
}

// dropClient ends the connection to the client. The server sees the end of its input.
func (t *tap) dropClient() {
	t.pumps[1].to.Close()
	t.pumps[0].to.Close()
}

// await passes on signals until the server has ended, and its output was passed on.
func (t *tap) await(signals <-chan os.Signal) {
	for ended := false; !ended; {
		select {
		case s := <-signals:
			t.forward(s)
		case <-t.process.Done():
			ended = true
		}
	}
	hurry := make(chan struct{})
	go func() {
		<-signals
		close(hurry)
	}()
	t.drain(restTime, hurry)
	t.process.KillGroup()
	t.reaper.Close()
	t.drain(restTime, hurry)
}

// drain waits until the output of the server has ended and was passed on, for as long as that goes
// on: it ends when nothing has come for some time, or by a signal.
func (t *tap) drain(idle time.Duration, hurry <-chan struct{}) {
	for _, p := range t.pumps[1:] {
		for !p.idle(idle) {
			select {
			case <-p.done:
			case <-hurry:
				return
			case <-time.After(idle / 10):
				continue
			}
			break
		}
	}
}

// notStarted returns the error for a server that cannot be started, with the exit code of a shell.
func notStarted(err error) error {
	failed := &cli.Error{Err: err, Code: exitNotExecutable, Hint: "write the command as you would in a shell, after --"}
	if errors.Is(err, fs.ErrNotExist) {
		failed.Code = exitNotFound
	}
	return failed
}
