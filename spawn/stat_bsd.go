//go:build unix && !linux && !darwin

package spawn

// startTime returns 0. The start time of a process is not known on these systems.
func startTime(int) uint64 { return 0 }
