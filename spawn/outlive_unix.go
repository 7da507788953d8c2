//go:build unix

package spawn

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Outlive has a command that is to be started outlive this process, however that ends. The command
// is in a session of its own, and no Reaper knows it. So it must end by itself. Windows ends all
// processes that toolman has started; there it is an error.
func Outlive(cmd *exec.Cmd) error {
	closeInheritedOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, tokensVar+"=") })
	return nil
}
