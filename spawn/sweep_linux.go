package spawn

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxEnviron is how much of an environment is read. Linux allows 128 KiB per variable and some
	// MiB in all.
	maxEnviron = 4 << 20
	// innerLimit is how long the reapers of inner runs may work after their runs were killed. They
	// know groups without a token, and have to come up first.
	innerLimit = endLimit / 2
	// sweepPause is the time between passes, for killed processes to end.
	sweepPause = 5 * time.Millisecond
)

// endRun kills what is left of a run: the groups whose leaders were started at the given times, and
// every process of this user that has the token. It reports whether nothing was left within the
// limit.
func endRun(token string, groups map[int]uint64, limit time.Duration) (clean bool) {
	s := newSweep(token, groups)
	begin := time.Now()
	until := begin.Add(limit)
	for pgid := range groups {
		s.inspect(pgid) // the known ones first
	}
	for time.Now().Before(until) {
		s.reapers = time.Since(begin) > innerLimit
		switch s.pass(until) {
		case foreign:
			return true
		case remaining:
			time.Sleep(sweepPause)
		}
	}
	return false
}

// A sweep is a search for the processes of a run.
type sweep struct {
	token   []byte
	groups  map[int]uint64 // the groups of the run, with the start times of their leaders
	began   uint64         // start of the search, in ticks
	uid     uint32
	reapers bool         // the reapers of inner runs are killed too
	ignored map[int]bool // processes that are not inspected again
	environ []byte       // of the last inspected process
}

func newSweep(token string, groups map[int]uint64) *sweep {
	return &sweep{token: []byte(token), groups: groups, began: ticksNow(), uid: uint32(os.Geteuid()),
		ignored: map[int]bool{1: true, os.Getpid(): true}}
}

// A finding is the result of an inspection of a process, or of a pass over all.
type finding uint8

// The result of a pass is the greatest of its findings.
const (
	foreign   finding = iota // not part of the run
	ended                    // has ended; was perhaps part of the run, and had children
	remaining                // part of the run, or may be
)

// pass inspects every process, except the ignored ones. Processes of the run descend from others of
// it, so the search is over after a pass that finds only foreign processes. A pass that is not
// complete in time finds that something remains.
func (s *sweep) pass(until time.Time) finding {
	proc, err := os.Open("/proc")
	if err != nil {
		return foreign
	}
	names, _ := proc.Readdirnames(-1)
	proc.Close()
	all := foreign
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || s.ignored[pid] {
			continue
		}
		if time.Now().After(until) {
			return remaining
		}
		all = max(all, s.inspect(pid))
	}
	return all
}

// inspect kills a process if it is part of the run.
func (s *sweep) inspect(pid int) finding {
	ours, known := s.hasToken(pid)
	if known && !ours && len(s.groups) == 0 {
		return s.ignore(pid, foreign)
	}
	st, ok := readStat(pid)
	if !ok {
		return ended
	}
	member := s.member(st)
	if member {
		unix.Kill(-st.group, unix.SIGKILL) // the process is in it, so the number belongs to the group
	}
	switch {
	case st.kernel:
		return s.ignore(pid, foreign)
	case !st.memory:
		return s.ignore(pid, ended)
	case known && !ours && !member:
		return s.ignore(pid, foreign)
	case ours:
		s.kill(pid)
	}
	return remaining
}

// ignore makes later passes skip a process.
func (s *sweep) ignore(pid int, f finding) finding {
	s.ignored[pid] = true
	return f
}

// member reports whether a process is in one of the groups. The number is not enough, because
// another group may get it after the last process of a group has ended.
func (s *sweep) member(st stat) bool {
	start, ok := s.groups[st.group]
	if !ok {
		return false
	}
	if leader, ok := readStat(st.group); ok {
		return leader.start == start
	}
	// A group keeps its number when its leader is reaped, and this process is from the time of the
	// run.
	return st.start <= s.began
}

// hasToken reports whether a process of this user has the token. That is not known during
// execve(2), and when the process has just ended.
func (s *sweep) hasToken(pid int) (carries, known bool) {
	fd, err := openProc(pid, "environ")
	if err != nil {
		return false, err == unix.EACCES || err == unix.EPERM
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if unix.Fstat(fd, &info) != nil {
		return false, false
	}
	if info.Uid != s.uid {
		return false, true
	}
	s.readEnviron(fd)
	if len(s.environ) > 0 {
		return inTokens(s.environ, s.token), true
	}
	st, ok := readStat(pid)
	return false, ok && st.emptyEnv
}

// readEnviron reads a whole environment with one call, because the process may change its program
// between two reads.
func (s *sweep) readEnviron(fd int) {
	for size := max(8<<10, cap(s.environ)); ; size *= 4 {
		s.environ = slices.Grow(s.environ[:0], size)[:size]
		n, _ := unix.Pread(fd, s.environ, 0)
		s.environ = s.environ[:max(0, n)]
		if n < size || size >= maxEnviron {
			return
		}
	}
}

// kill kills a process that had the token. Another process may have its pid now, so kill opens a
// pidfd and looks for the token again.
func (s *sweep) kill(pid int) {
	if !s.reapers && isReaper(s.environ) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if carries, _ := s.hasToken(pid); !carries {
		return
	}
	switch err {
	case nil:
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case unix.ENOSYS, unix.EPERM: // before Linux 5.3, or in an old sandbox
		unix.Kill(pid, unix.SIGKILL)
	}
}

// inTokens reports whether an environment has the token. Its entries end in NUL.
func inTokens(environ, token []byte) bool {
	if !bytes.Contains(environ, token) {
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		list, ok := bytes.CutPrefix(entry, []byte(tokensVar+"="))
		if !ok {
			continue
		}
		for t := range bytes.SplitSeq(list, []byte{':'}) {
			if bytes.Equal(t, token) {
				return true
			}
		}
	}
	return false
}

func isReaper(environ []byte) bool {
	return bytes.HasPrefix(environ, []byte(reapingVar+"=")) || bytes.Contains(environ, []byte("\x00"+reapingVar+"="))
}

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
