package spawn

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"toolman/spawn/winproc"
)

// A child is a process in its own job object.
type child struct {
	*winproc.Process
	pid int
}

func startChild(path string, c *Command, env []string, s *streams) (*child, error) {
	if getenv(env, "SYSTEMROOT") == "" { // Winsock and others need it to start
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	proc, err := winproc.Start(path, c.Argv, os.ProcAttr{
		Dir:   c.Dir,
		Env:   env,
		Files: []*os.File{s.childStdin, s.childStdout, s.childStderr},
	})
	if err != nil {
		return nil, err
	}
	return &child{proc, proc.Pid}, nil
}

// await blocks until the process has exited, and returns its status. Its job stays until reap.
func (c *child) await() string {
	state, err := c.Wait()
	if err != nil {
		return "exit status unknown: " + err.Error()
	}
	return state.String()
}

// signal does nothing. On Windows, a process without a window cannot be asked to end.
func (c *child) signal(syscall.Signal, bool) {}

func (c *child) kill() { c.KillJob() }

func (c *child) reap() { c.Close() }

// Outlive lets a command that is to be started outlive this process. It must end by itself.
func Outlive(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_BREAKAWAY_FROM_JOB | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// candidates returns the names that Windows would try, and can start as programs.
func candidates(path string, env []string) []string {
	var list []string
	if filepath.Ext(path) != "" {
		list = append(list, path)
	}
	for _, ext := range filepath.SplitList(cmp.Or(getenv(env, "PATHEXT"), ".com;.exe;.bat;.cmd")) {
		switch strings.ToLower(ext) {
		case ".com", ".exe", ".bat", ".cmd":
			list = append(list, path+ext)
		}
	}
	return list
}

func mayExecute(string) bool { return true }

// A Reaper does nothing on Windows, because the job objects end with this process.
type Reaper struct{}

// StartReaper puts this process into a job object, too.
func StartReaper() (*Reaper, error) {
	winproc.Guard()
	return &Reaper{}, nil
}

// RunReaper does nothing on Windows.
func RunReaper(_ []string, _ io.Reader) int { return 0 }

// Close does nothing on Windows.
func (r *Reaper) Close() {}

func (r *Reaper) environ() []string { return nil }

func (r *Reaper) add(int) {}

func (r *Reaper) remove(int) {}

// hint returns what to do about an error of the kernel, or "".
func hint(err error) string {
	code, _ := errors.AsType[syscall.Errno](err)
	switch code {
	case windows.ERROR_BAD_EXE_FORMAT:
		return "it is no program for Windows; a script needs its interpreter before it, as in python server.py"
	case windows.ERROR_ELEVATION_REQUIRED:
		return "it wants the rights of an administrator, which toolman does not have"
	case windows.ERROR_FILENAME_EXCED_RANGE:
		return "its arguments are longer than 32,767 characters: shorten them"
	}
	return ""
}

func newPipe(string, int) (r, w *os.File, err error) { return os.Pipe() }

func newPolledPipe(string) (r, w *os.File, err error) { return os.Pipe() }
