package spawn

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxEnviron is how much of an environment is looked at. Linux allows 128 KiB a variable and some MiB in all.
const maxEnviron = 4 << 20

// sweep looks once at every process of this user, kills those that belong to the run of token, and returns how many of
// them there were. Guards of inner runs are counted, but killed only if guards is set.
func sweep(token string, guards bool) int {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	s := sweeper{token: []byte(token), uid: uint32(os.Geteuid()), guards: guards}
	found := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && pid > 1 && pid != os.Getpid() && s.belongs(name) {
			found++
			s.kill(pid, name)
		}
	}
	return found
}

type sweeper struct {
	token   []byte
	uid     uint32
	guards  bool
	environ bytes.Buffer // of the process looked at last
}

// belongs reports whether the process is this user's and carries the token.
func (s *sweeper) belongs(name string) bool {
	var st syscall.Stat_t
	if syscall.Stat("/proc/"+name, &st) != nil || st.Uid != s.uid {
		return false
	}
	file, err := os.Open("/proc/" + name + "/environ")
	if err != nil {
		return false
	}
	defer file.Close()
	s.environ.Reset()
	s.environ.ReadFrom(io.LimitReader(file, maxEnviron))
	return carries(s.environ.Bytes(), s.token)
}

// kill kills the process that was just seen to belong to the run. The pid may have come to mean another since, so the process is
// pinned first and looked at again.
func (s *sweeper) kill(pid int, name string) {
	if !s.guards && isGuard(s.environ.Bytes()) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ENOSYS || err == unix.EPERM { // before Linux 5.3, or in an old sandbox
		unix.Kill(pid, unix.SIGKILL)
		return
	}
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if s.belongs(name) {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// carries reports whether token is in the list of tokens of an environment, whose entries end in NUL.
func carries(environ, token []byte) bool {
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
