package spawn

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A child is a process in its own job object. We have the only handle of the job, so the kernel
// kills the job when this process ends.
type child struct {
	pid  int
	proc *os.Process
	job  windows.Handle
}

func startChild(path string, c *Command, env []string, s *streams) (*child, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	if getenv(env, "SYSTEMROOT") == "" { // Winsock and others need it to start
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	proc, err := os.StartProcess(path, c.Argv, &os.ProcAttr{
		Dir:   c.Dir,
		Env:   env,
		Files: []*os.File{s.childStdin, s.childStdout, s.childStderr},
		Sys:   &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	if err := assign(proc, job); err != nil {
		proc.Kill()
		proc.Wait()
		windows.CloseHandle(job)
		return nil, fmt.Errorf("putting it into a job object: %w", err)
	}
	return &child{pid: proc.Pid, proc: proc, job: job}, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("making a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("making a job object: %w", err)
	}
	return job, nil
}

// assign runs while the child is still being loaded, before it can start processes.
func assign(proc *os.Process, job windows.Handle) (err error) {
	handleErr := proc.WithHandle(func(h uintptr) {
		err = windows.AssignProcessToJobObject(job, windows.Handle(h))
	})
	if handleErr != nil {
		return handleErr
	}
	return err
}

// await blocks until the process has exited, and returns its status. Its job stays until reap.
func (c *child) await() string {
	state, err := c.proc.Wait()
	if err != nil {
		return "exit status unknown: " + err.Error()
	}
	return state.String()
}

// signal does nothing. On Windows, a process without a window cannot be asked to end.
func (c *child) signal(syscall.Signal, bool) {}

func (c *child) kill() { windows.TerminateJobObject(c.job, 1) }

func (c *child) reap() { windows.CloseHandle(c.job) }

// candidates returns the names that Windows would try.
func candidates(path string, env []string) []string {
	exts := getenv(env, "PATHEXT")
	if exts == "" {
		exts = ".com;.exe;.bat;.cmd"
	}
	var list []string
	if filepath.Ext(path) != "" {
		list = append(list, path)
	}
	for _, ext := range filepath.SplitList(exts) {
		list = append(list, path+ext)
	}
	return list
}

func mayExecute(string) bool { return true }

// A Reaper does nothing on Windows, because the job objects end with this process.
type Reaper struct{}

// StartReaper returns an empty Reaper.
func StartReaper() (*Reaper, error) { return &Reaper{}, nil }

// RunReaper does nothing on Windows.
func RunReaper(_ []string, _ io.Reader) int { return 0 }

// Close does nothing on Windows.
func (r *Reaper) Close() {}

func (r *Reaper) environ() []string { return nil }

func (r *Reaper) add(int) {}

func (r *Reaper) remove(int) {}

// hint returns "". The error texts of Windows need no hints.
func hint(error) string { return "" }

func newPipe(string, int) (r, w *os.File, err error) { return os.Pipe() }

func newPolledPipe(string) (r, w *os.File, err error) { return os.Pipe() }
