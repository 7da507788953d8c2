package configfile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		link := filepath.Join(dir, "tools.toml")
		if err := os.Symlink(write("v1", "one"), link); err != nil && runtime.GOOS == "windows" {
			t.Skip("A FILE BEHIND A LINK IS NOT TESTED: making one is a privilege on Windows: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		changes := 0
		w := NewWatch(link)
		write("v1", "one and a half") // as soon as it is read for use
		go w.Run(ctx, func() { changes++ })
		expect := func(what string, want int) {
			t.Helper()
			time.Sleep(2 * watchEvery)
			synctest.Wait()
			if changes != want {
				t.Errorf("%s: %d changes, want %d", what, changes, want)
			}
		}
		expect("written before it was first looked at", 1)
		expect("nothing was done", 1)
		write("v1", "one and a half")
		expect("written again as it was", 1)
		write("v1", "two")
		expect("written", 2)
		os.Remove(link)
		expect("gone", 2)
		os.Symlink(write("v2", "three"), link)
		expect("swapped", 3)
		cancel()
		synctest.Wait()
		write("v2", "four")
		expect("not watched any more", 3)
	})
}
