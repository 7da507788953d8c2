package spawn

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// A stat is what proc_pid_stat(5) says of a process.
type stat struct {
	group    int    // process group
	start    uint64 // when it was started, in clock ticks since boot; no other process with its pid has the same
	kernel   bool   // it is a thread of the kernel
	memory   bool   // it has memory: it has not ended
	emptyEnv bool   // the program that it runs was given no environment
}

// kernelThread is PF_KTHREAD of the kernel's include/linux/sched.h.
const kernelThread = 0x200000

// readStat returns what the kernel says of a process, and false if there is none.
func readStat(pid int) (stat, bool) {
	fd, err := openProc(pid, "stat")
	if err != nil {
		return stat{}, false
	}
	defer unix.Close(fd)
	var buf [1 << 10]byte
	n, _ := unix.Read(fd, buf[:])
	text := buf[:max(0, n)]
	// The second field is the program's name in parentheses, and may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 52-2 {
		return stat{}, false
	}
	field := func(n int) uint64 { // as the manual page counts them
		v, _ := strconv.ParseUint(string(fields[n-3]), 10, 64)
		return v
	}
	// execve sets the place of the code (26) when the arguments and the environment are there.
	loaded, envStart, envEnd := field(26) != 0, field(50), field(51)
	return stat{
		group:    int(field(5)),
		start:    field(22),
		kernel:   field(9)&kernelThread != 0,
		memory:   field(23) > 0,
		emptyEnv: loaded && envStart == envEnd,
	}, true
}

// openProc opens a file that the kernel shows of a process. The os package would take three times
// as long, for at the end of toolman all processes are looked at.
func openProc(pid int, name string) (fd int, err error) {
	return unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// startTime returns when a process was started, 0 if that is not known.
func startTime(pid int) uint64 {
	st, _ := readStat(pid)
	return st.start
}

// tick is the unit of stat.start: USER_HZ is 100.
const tick = 10_000_000 // ns

// ticksNow returns the time as stat.start has it.
func ticksNow() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano()) / tick
}
