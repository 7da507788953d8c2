package traceview

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableColors makes the console obey escape sequences, which it does not do by itself.
func enableColors(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	return windows.GetConsoleMode(h, &mode) == nil &&
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
