package spawn

import "golang.org/x/sys/unix"

// startTime returns when a process was started, in microseconds since 1970, 0 if that is not known.
// No other process with its pid has the same.
func startTime(pid int) uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec)
}
