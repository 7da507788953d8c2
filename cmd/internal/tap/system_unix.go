//go:build unix

package tap

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forward passes on a signal. What a terminal sends goes to all processes of a group; what a
// program sends, to one.
func (t *tap) forward(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		t.process.Signal(s, s != syscall.SIGTERM)
	}
}

// end ends this process as the server has ended: with the same code, or by the same signal.
func end(status string) {
	if name, ok := strings.CutPrefix(status, "killed by "); ok {
		s := unix.SignalNum(name)
		if n, ok := strings.CutPrefix(name, "signal "); ok {
			number, _ := strconv.Atoi(n)
			s = syscall.Signal(number)
		}
		killed(s)
		os.Exit(128 + int(s))
	}
	code := 1
	fmt.Sscanf(status, "exit status %d", &code)
	os.Exit(code)
}

// killed ends this process by a signal. Go handles some signals in its own way, such as SIGSEGV and
// SIGPIPE; a shell in its place does not. The process that the signal has ended first has dumped
// its core.
func killed(s syscall.Signal) {
	none := unix.Rlimit{}
	unix.Setrlimit(unix.RLIMIT_CORE, &none)
	syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", int(s))}, nil)
}
