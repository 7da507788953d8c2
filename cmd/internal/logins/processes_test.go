package logins

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/fixtures/mcptest"
)

// The other programs of these tests.
const (
	countIn = "LOGINS_TEST_COUNT" // adds 1 to the token, some times
	holdIn  = "LOGINS_TEST_HOLD"  // holds the lock until it is killed
	fullIn  = "LOGINS_TEST_FULL"  // may write no more than some bytes
	useIn   = "LOGINS_TEST_USE"   // uses the login
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Renew {
		os.Exit(RunRenewal(os.Stdin, os.Stdout))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the other programs
	for variable, run := range map[string]func(*File) error{countIn: count, holdIn: hold, fullIn: writeToFullDisk, useIn: use} {
		if dir := os.Getenv(variable); dir != "" {
			if err := run(At(dir).File(linear)); err != nil {
				os.Stderr.WriteString(err.Error())
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// program starts this test binary as another program.
func program(t *testing.T, variable string, f Folder) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+f.Path())
	return cmd
}

const counts = 25

// count adds 1 to the number that is the token.
func count(f *File) error {
	for range counts {
		err := f.Update(context.Background(), func(r *Record) error {
			n, _ := strconv.Atoi(r.AccessToken)
			r.AccessToken = strconv.Itoa(n + 1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSeveralProcessesAtOnce(t *testing.T) {
	dir := folder(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if out, err := program(t, countIn, dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Go(func() {
		f := dir.File(linear)
		for token(t, f) != strconv.Itoa(4*counts) && !t.Failed() {
			time.Sleep(time.Millisecond) // Windows replaces no file that is open
		}
	})
	all.Wait()
}

// hold holds the lock, and says so by a file.
func hold(f *File) error {
	return f.Update(context.Background(), func(*Record) error {
		if err := os.WriteFile(filepath.Join(filepath.Dir(f.Path()), "held"), nil, 0o600); err != nil {
			return err
		}
		time.Sleep(time.Hour) // until it is killed; select {} would be a deadlock, which ends it
		return nil
	})
}

func TestAProcessThatHoldsTheLockIsWaitedForAndMayBeKilled(t *testing.T) {
	dir := folder(t)
	f := dir.File(linear)
	update(t, f, set("a"))
	holder := program(t, holdIn, dir)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(dir.Path(), "held")
	for until := time.Now().Add(mcptest.Patience); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(held); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the other process does not get the lock")
		}
	}
	mode(t, f.Path()+".lock", 0o600)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.Update(ctx, set("b")); err == nil || !strings.Contains(err.Error(), "locking the login") {
		t.Errorf("got %v", err)
	}
	if got := token(t, f); got != "a" {
		t.Errorf("a reader waits, or gets %s", got)
	}
	holder.Process.Kill()
	holder.Wait()
	os.Remove(held)
	update(t, f, set("c"))
	if got := token(t, f); got != "c" || left(t, dir) != filepath.Base(f.Path()) {
		t.Errorf("got %s, in the folder: %s", got, left(t, dir))
	}
}
