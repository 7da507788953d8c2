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
	// maxEnviron is how much of an environment is looked at. Linux allows 128 KiB a variable and some MiB in all.
	maxEnviron = 4 << 20
	// innerLimit is how long the guards of inner runs have. They reach processes that carry no
	// token, and their runs have just been killed.
	innerLimit = 2 * time.Second
	// sweepPause lets what was killed die.
	sweepPause = 5 * time.Millisecond
)

// endRun kills what is left of a run: the members of the given groups, whose leaders were started at
// those times, and every process of this user that carries the token. It goes on until nothing is
// left, and reports whether that was within the limit.
func endRun(token string, groups map[int]uint64, limit time.Duration) (clean bool) {
	s := newSweep(token, groups)
	begin := time.Now()
	until := begin.Add(limit)
	for pgid := range groups {
		s.look(pgid) // first: these are known
	}
	for time.Now().Before(until) {
		s.guards = time.Since(begin) > innerLimit
		switch s.round(until) {
		case other:
			return true
		case left:
			time.Sleep(sweepPause)
		}
	}
	return false
}

// A sweep is a search for the processes of a run.
type sweep struct {
	token   []byte
	groups  map[int]uint64 // the groups of the run, and when their leaders were started
	began   uint64         // when the search began, in ticks
	uid     uint32
	guards  bool         // the guards of inner runs are killed as well
	others  map[int]bool // processes that are not looked at again
	environ []byte       // of the process looked at last
}

func newSweep(token string, groups map[int]uint64) *sweep {
	return &sweep{token: []byte(token), groups: groups, began: ticksNow(), uid: uint32(os.Geteuid()),
		others: map[int]bool{1: true, os.Getpid(): true}}
}

// A finding is what a look at a process, or at all of them, has shown.
type finding uint8

// In this order, the greatest of all findings is that of a round.
const (
	other finding = iota // it is not of the run
	ended                // it has ended; it may have been of the run, and have had children
	left                 // it is of the run, or may be
)

// round looks at every process that is there, except those known to be others. What is of the run
// descends from it: a round that has found others only is the last that is needed. A round that is
// not over in time finds that something may be left.
func (s *sweep) round(until time.Time) finding {
	proc, err := os.Open("/proc")
	if err != nil {
		return other
	}
	names, _ := proc.Readdirnames(-1)
	proc.Close()
	all := other
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || s.others[pid] {
			continue
		}
		if time.Now().After(until) {
			return left
		}
		all = max(all, s.look(pid))
	}
	return all
}

// look looks at a process and kills it if it is of the run.
func (s *sweep) look(pid int) finding {
	ours, known := s.carries(pid)
	if known && !ours && len(s.groups) == 0 {
		return s.other(pid, other)
	}
	st, ok := readStat(pid)
	if !ok {
		return ended
	}
	member := s.member(st)
	if member {
		unix.Kill(-st.group, unix.SIGKILL) // the process, just seen in it, keeps the number for the group
	}
	switch {
	case st.kernel:
		return s.other(pid, other)
	case !st.memory:
		return s.other(pid, ended)
	case known && !ours && !member:
		return s.other(pid, other)
	case ours:
		s.kill(pid)
	}
	return left
}

// other has a process not looked at again.
func (s *sweep) other(pid int, f finding) finding {
	s.others[pid] = true
	return f
}

// member reports whether a process is in one of the groups. The number alone does not say so: when
// the last member of a group is gone and its leader reaped, another process may get the number.
func (s *sweep) member(st stat) bool {
	start, ok := s.groups[st.group]
	if !ok {
		return false
	}
	if leader, ok := readStat(st.group); ok {
		return leader.start == start
	}
	// A group keeps its number when its leader is reaped, and this is one from the time of the run.
	return st.start <= s.began
}

// carries reports whether a process is this user's and carries the token. That is not known while
// it changes its program (execve(2)) and when it has just ended.
func (s *sweep) carries(pid int) (carries, known bool) {
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

// readEnviron reads an environment all at once: between two reads the process may change its
// program, and then nothing more comes of the environment that the first read began.
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

// kill kills a process that was just seen to carry the token. Its pid may have come to mean another
// since, so the process is pinned first and looked at again.
func (s *sweep) kill(pid int) {
	if !s.guards && isGuard(s.environ) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if carries, _ := s.carries(pid); !carries {
		return
	}
	switch err {
	case nil:
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case unix.ENOSYS, unix.EPERM: // before Linux 5.3, or in an old sandbox
		unix.Kill(pid, unix.SIGKILL)
	}
}

// inTokens reports whether token is in the list of tokens of an environment, whose entries end in NUL.
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

func isGuard(environ []byte) bool {
	return bytes.HasPrefix(environ, []byte(guardingVar+"=")) || bytes.Contains(environ, []byte("\x00"+guardingVar+"="))
}
