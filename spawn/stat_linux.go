package spawn

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// A stat is a part of proc_pid_stat(5).
type stat struct {
	group    int    // process group
	start    uint64 // start time in clock ticks since boot; distinguishes processes with the same pid
	kernel   bool   // a thread of the kernel
	memory   bool   // it has memory, and so has not ended
	emptyEnv bool   // its program got no environment
}

// kernelThread is PF_KTHREAD of the kernel's include/linux/sched.h.
const kernelThread = 0x200000

// readStat returns the stat of a process, and false if there is none.
func readStat(pid int) (stat, bool) {
	fd, err := openProc(pid, "stat")
	if err != nil {
		return stat{}, false
	}
	defer unix.Close(fd)
	var buf [1 << 10]byte
	n, _ := unix.Read(fd, buf[:])
	text := buf[:max(0, n)]
	// The second field is the name of the program in parentheses, and may contain anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 52-2 {
		return stat{}, false
	}
	field := func(n int) uint64 { // with the number of the manual page
		v, _ := strconv.ParseUint(string(fields[n-3]), 10, 64)
		return v
	}
	// execve sets the address of the code (26) after those of the arguments and the environment.
	loaded, envStart, envEnd := field(26) != 0, field(50), field(51)
	return stat{
		group:    int(field(5)),
		start:    field(22),
		kernel:   field(9)&kernelThread != 0,
		memory:   field(23) > 0,
		emptyEnv: loaded && envStart == envEnd,
	}, true
}

// openProc opens a file about a process. The os package takes three times as long, and the end of a
// run opens files of all processes.
func openProc(pid int, name string) (fd int, err error) {
	return unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// startTime returns the start time of a process, or 0.
func startTime(pid int) uint64 {
	st, _ := readStat(pid)
	return st.start
}

// tick is the unit of stat.start: USER_HZ is 100.
const tick = 10_000_000 // ns

// ticksNow returns the current time in the unit of stat.start.
func ticksNow() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano()) / tick
}
