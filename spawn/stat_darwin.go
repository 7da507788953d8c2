package spawn

import "golang.org/x/sys/unix"

// startTime returns the start time of a process in microseconds since 1970, or 0. It distinguishes
// processes with the same pid.
func startTime(pid int) uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec)
}
