package logins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"toolman/spawn"
)

// Renew is the hidden command of toolman that calls RunRenewal.
const Renew = "__renew"

// carryOut renews the token in a process of its own. If this process is killed, the other one goes
// on: the authorization server may just have issued the only refresh token that it accepts.
func (l *Login) carryOut(ctx context.Context, r renewal) outcome {
	program := l.o.program
	if program == "" {
		program = toolman()
	}
	if program != "" {
		done, err := apart(program, &r)
		if err == nil {
			return done
		}
		l.o.Log(fmt.Sprintf("the login of %s is renewed without a process of its own, so that it may be lost if toolman is killed: %v", l.o.Server, err))
	}
	r.client, r.secret = l.o.client, l.o.Secret
	if r.client == nil {
		r.client = r.Guard.Client
	}
	return r.run(ctx, l.file)
}

// toolman returns the path of this program, or "" if it is another one that contains this package,
// such as a test.
func toolman() string {
	info, ok := debug.ReadBuildInfo()
	path, err := os.Executable()
	if !ok || err != nil || info.Path != "toolman/cmd/toolman" {
		return ""
	}
	return path
}

// apart runs a program that calls RunRenewal. An error says that it has not come to an end.
func apart(program string, r *renewal) (done outcome, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return done, err
	}
	cmd := exec.Command(program, Renew)
	spawn.Outlive(cmd)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &done)
	}
	if err != nil {
		return done, fmt.Errorf("%s %s: %w", filepath.Base(program), Renew, err)
	}
	return done, nil
}

// RunRenewal is the hidden command `toolman __renew`. It reads a renewal, carries it out, and writes
// the outcome, which nobody may read any more. It returns the exit code. Signals do not end it: it
// ends soon.
func RunRenewal(stdin io.Reader, stdout io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	var r renewal
	if err := json.NewDecoder(stdin).Decode(&r); err != nil {
		return 1
	}
	r.client, r.secret = r.Guard.Client, func(...string) {}
	done := r.run(context.Background(), &File{key: r.Key, folder: At(filepath.Dir(r.Path)), path: r.Path})
	if err := json.NewEncoder(stdout).Encode(done); err != nil {
		return 1
	}
	return 0
}
