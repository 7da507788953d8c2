package spawn

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A child is a process in a job object of its own. The job ends with its last handle, and we hold the only one:
// when this process ends, however it ends, the kernel kills the job.
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
	if getenv(env, "SYSTEMROOT") == "" { // without it Winsock and others do not start
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	proc, err := os.StartProcess(path, c.Argv, &os.ProcAttr{
		Dir:   c.Dir,
		Env:   env,
		Files: []*os.File{s.theirStdin, s.theirStdout, s.theirStderr},
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

// assign comes after the child has started: it is still being loaded then, and starts no process of its own.
func assign(proc *os.Process, job windows.Handle) (err error) {
	handleErr := proc.WithHandle(func(h uintptr) {
		err = windows.AssignProcessToJobObject(job, windows.Handle(h))
	})
	if handleErr != nil {
		return handleErr
	}
	return err
}

// await blocks until the process has exited and says how. Its job stays until reap.
func (c *child) await() string {
	state, err := c.proc.Wait()
	if err != nil {
		return "exit status unknown: " + err.Error()
	}
	return state.String()
}

// terminate does nothing: Windows has no polite way to end a process without a window. It has seen its stdin close.
func (c *child) terminate() {}

func (c *child) kill() { windows.TerminateJobObject(c.job, 1) }

func (c *child) reap() { windows.CloseHandle(c.job) }
