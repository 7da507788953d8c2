package winproc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Process leads a job object of its own.
type Process struct {
	*os.Process
	job windows.Handle
}

// Start starts the program at a path in a job object. attr.Sys is not used.
func Start(path string, argv []string, attr os.ProcAttr) (*Process, error) {
	path, line, err := commandLine(path, argv)
	if err != nil {
		return nil, err
	}
	job, err := newJob(0)
	if err != nil {
		return nil, err
	}
	attr.Sys = &syscall.SysProcAttr{
		CmdLine:       line,
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
	}
	proc, err := os.StartProcess(path, argv, &attr)
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	p := &Process{proc, job}
	if err := p.release(); err != nil {
		proc.Kill()
		proc.Wait()
		p.Close()
		return nil, fmt.Errorf("putting it into a job object: %w", err)
	}
	return p, nil
}

// Guard puts this process into a job object that is never closed, so that the kernel kills all
// descendants when this process ends. A child has a job of its own only a moment after it is made,
// and this process may be killed just then. What this process starts may leave the job; the job of a
// [Process] permits that to none. A system that allows no job within another one, such as Windows 7,
// does without.
var Guard = sync.OnceFunc(func() {
	if job, err := newJob(windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK); err == nil && windows.AssignProcessToJobObject(job, windows.CurrentProcess()) != nil {
		windows.CloseHandle(job)
	}
})

// newJob makes a job that is killed when its last handle is closed, with more flags.
func newJob(flags uint32) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("making a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | flags
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("making a job object: %w", err)
	}
	return job, nil
}

// ntResumeProcess resumes all threads of a process. ResumeThread would need a handle of its thread,
// which os.StartProcess closes.
var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// release puts the suspended process into its job and resumes it.
func (p *Process) release() (err error) {
	handleErr := p.WithHandle(func(h uintptr) {
		if err = windows.AssignProcessToJobObject(p.job, windows.Handle(h)); err != nil {
			return
		}
		if status, _, _ := ntResumeProcess.Call(h); int32(status) < 0 {
			err = windows.NTStatus(uint32(status))
		}
	})
	if handleErr != nil {
		return handleErr
	}
	return err
}

// KillJob kills the process and its descendants.
func (p *Process) KillJob() { windows.TerminateJobObject(p.job, 1) }

// Close closes the job, which kills what is left of it.
func (p *Process) Close() { windows.CloseHandle(p.job) }
