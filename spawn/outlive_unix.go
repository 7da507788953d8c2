//go:build unix

package spawn

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Outlive lets a command that is to be started outlive this process. It must end by itself.
func Outlive(cmd *exec.Cmd) {
	closeInheritedOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, tokensVar+"=") })
}
