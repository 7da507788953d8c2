//go:build unix

package spawn

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// startChild forks without os.StartProcess, whose Process would reap the leader before its group is dealt with.
func startChild(path string, c *Command, env []string, s *streams) (*child, error) {
	closeInheritedOnExec()
	pid, err := syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   env,
		Files: []uintptr{s.theirStdin.Fd(), s.theirStdout.Fd(), s.theirStderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, err
	}
	return &child{pid: pid}, nil
}

// terminate and kill signal the whole group. That there is nobody left to signal is no error. They
// must not be called after reap: until then the number of the group can mean no other.

func (c *child) terminate() { c.signalGroup(unix.SIGTERM) }

func (c *child) kill() { c.signalGroup(unix.SIGKILL) }

// reap takes the dead leader out of the process table, and with it the members of its group that this process has
// inherited as pid 1 of a container or as a subreaper. They have been killed, so it does not block for long.
func (c *child) reap() {
	for {
		if _, err := unix.Wait4(-c.pid, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

func describe(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		if name := unix.SignalName(ws.Signal()); name != "" {
			return "killed by " + name
		}
		return fmt.Sprintf("killed by signal %d", int(ws.Signal()))
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}
