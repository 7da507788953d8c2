//go:build unix

package config

import (
	"fmt"
	"os"
	"syscall"
)

// distrust returns a problem with a file that was found, and not named, when somebody else could
// have written it: who writes it chooses the programs that toolman runs. As with ssh, the user who
// runs toolman, or root, has to own the file and a link to it, and nobody else may write it. A
// group with the number of the owner is the owner's own: it may. It returns nil for a file that
// cannot be looked at.
func distrust(path string) *Problem {
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
			return &Problem{File: path, Msg: fmt.Sprintf("it was found and belongs to user %d, while toolman runs as user %d; the owner chooses what toolman runs", stat.Uid, os.Geteuid()),
				Hint: "chown it, or name it with --config if you trust it"}
		case info.Mode().Type() == os.ModeSymlink: // its mode says nothing
		case others&0o002 != 0, others != 0 && stat.Gid != stat.Uid:
			return &Problem{File: path, Msg: fmt.Sprintf("it was found and others may write it (mode %v); they choose what toolman runs", info.Mode().Perm()),
				Hint: "chmod go-w it, or name it with --config if you trust them"}
		}
	}
	return nil
}
