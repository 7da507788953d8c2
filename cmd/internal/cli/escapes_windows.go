package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes the console obey escape sequences, which it does not do by itself.
func enableEscapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	return windows.GetConsoleMode(h, &mode) == nil &&
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
