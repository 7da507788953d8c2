package pages

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Release unmaps what is in memory of the program's own file. It is mapped again, bit by bit,
// as it is used. Release takes less than a millisecond, and does nothing where it cannot be
// sure of what it would do.
func Release() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unwritten(smaps, program) {
		unix.Syscall(unix.SYS_MADVISE, m.lo, m.hi-m.lo, unix.MADV_DONTNEED)
	}
}

// A mapping is where a part of a file is in memory.
type mapping struct{ lo, hi uintptr }

// unwritten returns the read-only mappings of a file in which every page is as it is in the
// file, by the text of a /proc/PID/smaps (proc(5)). That leaves out variables, and tables that
// the loader has filled in before it made them read-only.
func unwritten(smaps []byte, file string) (all []mapping) {
	var m mapping // that the lines are about, unless it is one to be left alone
	for line := range bytes.Lines(smaps) {
		fields := strings.Fields(string(line))
		switch key := fields[0]; {
		case !strings.HasSuffix(key, ":"):
			m = mapping{}
			if mode := fields[1]; (mode == "r--p" || mode == "r-xp") && strings.HasSuffix(string(line), " "+file+"\n") {
				m = bounds(key)
			}
		case (key == "Anonymous:" || key == "Swap:") && fields[1] != "0":
			m = mapping{}
		case key == "VmFlags:" && m.lo < m.hi: // the last line of a mapping
			all = append(all, m)
		}
	}
	return all
}

// bounds reads two addresses, such as 00400000-009ef000.
func bounds(text string) mapping {
	from, to, _ := strings.Cut(text, "-")
	lo, errLo := strconv.ParseUint(from, 16, strconv.IntSize)
	hi, errHi := strconv.ParseUint(to, 16, strconv.IntSize)
	if errLo != nil || errHi != nil {
		return mapping{}
	}
	return mapping{uintptr(lo), uintptr(hi)}
}
