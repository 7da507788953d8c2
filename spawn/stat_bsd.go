//go:build unix && !linux && !darwin

package spawn

// startTime returns 0: when a process was started is not known here.
func startTime(int) uint64 { return 0 }
