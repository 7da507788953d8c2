//go:build unix

package setup

import (
	"fmt"
	"os"
	"syscall"

	"toolman/cmd/internal/config/source"
)

// distrust returns a problem with a file that was found, and not named, if another user could have
// written it: the file chooses the programs that toolman runs. As with ssh, the user who runs
// toolman, or root, has to own the file and a link to it, and no other user may write it. A group
// with the owner's number is the owner's own and may write it. distrust returns nil for a file that
// cannot be examined.
func distrust(path string) *source.Problem {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(path)
		if err != nil {
			return nil
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		others := info.Mode().Perm() & 0o022
		switch {
		case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
			return &source.Problem{File: path, Msg: fmt.Sprintf("it was found and belongs to user %d, while toolman runs as user %d; the owner chooses what toolman runs", stat.Uid, os.Geteuid()),
				Hint: "chown it, or name it with --config if you trust it"}
		case info.Mode().Type() == os.ModeSymlink: // its mode says nothing
		case others&0o002 != 0, others != 0 && stat.Gid != stat.Uid:
			return &source.Problem{File: path, Msg: fmt.Sprintf("it was found and others may write it (mode %v); they choose what toolman runs", info.Mode().Perm()),
				Hint: "chmod go-w it, or name it with --config if you trust them"}
		}
	}
	return nil
}
