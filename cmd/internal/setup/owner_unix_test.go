//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileThatOthersMayHaveWrittenHasToBeNamed(t *testing.T) {
	me, stranger := os.Geteuid(), 54321
	for _, tt := range []struct {
		name       string
		uid, gid   int // of the file; -1 as it is
		mode       os.FileMode
		link       int // who owns a link to it; -1: there is none
		says, hint string
	}{
		{"one's own", -1, -1, 0o600, -1, "", ""},
		{"one's own, others may read it", -1, -1, 0o644, -1, "", ""},
		{"one's own group may write it", me, me, 0o664, -1, "", ""},
		{"everybody may write it", -1, -1, 0o646, -1, "others may write it (mode -rw-r--rw-)", "chmod go-w"},
		{"another group may write it", -1, stranger, 0o664, -1, "others may write it (mode -rw-rw-r--)", "chmod go-w"},
		{"another group may read it", -1, stranger, 0o640, -1, "", ""},
		{"a stranger's", stranger, stranger, 0o600, -1, "belongs to user 54321", "chown"},
		{"a link of one's own to a stranger's", stranger, stranger, 0o600, me, "belongs to user 54321", "chown"},
		{"a stranger's link to one's own", me, -1, 0o600, stranger, "belongs to user 54321", "chown"},
		{"a link of one's own to one's own", me, -1, 0o600, me, "", ""},
		{"a link to what everybody may write", me, -1, 0o666, me, "others may write it (mode -rw-rw-rw-)", "chmod go-w"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if me != 0 && (tt.uid == stranger || tt.gid == stranger || tt.link == stranger) {
				t.Skip("only root can give files away")
			}
			root := tree(t, "repo/.git/", "repo/sub/", "repo/tools.toml")
			path := filepath.Join(root, "repo/tools.toml")
			file := path
			if tt.link >= 0 {
				file = filepath.Join(root, "file")
				if err := os.Rename(path, file); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(file, path); err != nil {
					t.Fatal(err)
				}
				if err := os.Lchown(path, tt.link, -1); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chown(file, tt.uid, tt.gid); err != nil {
				t.Skip(err)
			}
			if err := os.Chmod(file, tt.mode); err != nil {
				t.Fatal(err)
			}
			none := func(string) string { return "" }
			for _, dir := range []string{"repo", "repo/sub"} {
				at, err := find("", none, filepath.Join(root, dir))
				switch {
				case tt.says == "" && (err != nil || at.Path != path):
					t.Errorf("from %s: %+v, %v", dir, at, err)
				case tt.says != "" && (err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), tt.says) ||
					!strings.Contains(err.Error(), tt.hint) || !strings.Contains(err.Error(), "--config")):
					t.Errorf("from %s: %+v, %v", dir, at, err)
				}
			}
			if at, err := find(path, none, root); err != nil || at.Path != path {
				t.Errorf("named by --config: %+v, %v", at, err)
			}
			named := func(name string) string { return map[string]string{"TOOLMAN_CONFIG": path}[name] }
			if at, err := find("", named, root); err != nil || at.Path != path {
				t.Errorf("named by TOOLMAN_CONFIG: %+v, %v", at, err)
			}
		})
	}
}

// Nothing that stands further up is used in its place.
func TestAFileThatIsDistrustedHidesNoOther(t *testing.T) {
	root := tree(t, "repo/.git/", "repo/tools.toml", "repo/sub/tools.toml")
	if err := os.Chmod(filepath.Join(root, "repo/sub/tools.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if at, err := find("", func(string) string { return "" }, filepath.Join(root, "repo/sub")); err == nil {
		t.Errorf("found %+v", at)
	}
}
