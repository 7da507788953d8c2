package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"toolman/cmd/dist/release"
)

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := output(".", "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Dir(out), nil
}

// output is what a command prints, without the end of the line.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// version is the one that is given, or that of the commit.
func version(root, given string) (release.Version, error) {
	changed, err := output(root, "git", "status", "--porcelain")
	if err != nil && given == "" {
		return release.Version{}, fmt.Errorf("%w: outside a repository give -version", err)
	}
	if changed != "" {
		fmt.Fprintln(os.Stderr, "dist: warning: there are changes that are not committed; nobody can build these files again")
	}
	if given != "" {
		return release.ParseVersion(given)
	}
	commits, err := output(root, "git", "rev-list", "--count", "HEAD")
	if err != nil {
		return release.Version{}, err
	}
	n, err := strconv.Atoi(commits)
	if err != nil {
		return release.Version{}, err
	}
	tag, err := output(root, "git", "tag", "--list", "v[0-9]*", "--merged", "HEAD")
	if err != nil {
		return release.Version{}, err
	}
	if tag == "" {
		return release.Described("", n)
	}
	describe, err := output(root, "git", "describe", "--tags", "--long", "--match", "v[0-9]*")
	if err != nil {
		return release.Version{}, err
	}
	return release.Described(describe, n)
}

// commitTime is SOURCE_DATE_EPOCH, or the time of the commit.
func commitTime(root string) (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		var err error
		if epoch, err = output(root, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("%w: outside a repository set SOURCE_DATE_EPOCH", err)
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// build builds the program for a platform. The ID of the build stays in it: it is a hash of what
// goes in, and macOS wants the UUID that the linker makes of it.
func build(r *release.Release, p release.Platform, dir string) error {
	b := release.Build{Platform: p, Path: filepath.Join(dir, p.OS+"-"+p.Arch, p.Program())}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(r)+" -s",
		"-gcflags=toolman/cmd/...=-l", "-gcflags=toolman/cmd/internal/traces/...=", // as the Makefile says
		"-o", b.Path, "./cmd/toolman")
	cmd.Env = environment("GOOS="+p.OS, "GOARCH="+p.Arch)
	if err := execute(r, cmd); err != nil {
		return err
	}
	r.Builds = append(r.Builds, b)
	return nil
}

// docs writes the manual pages and completions, which a special build of toolman makes.
func docs(r *release.Release, dir string) error {
	r.Docs = filepath.Join(dir, "docs")
	cmd := exec.Command("go", "run", "-tags", "dist", "-buildvcs=false", "-ldflags", ldflags(r), "./cmd/toolman", r.Docs)
	cmd.Env = environment(fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()))
	return execute(r, cmd)
}

func execute(r *release.Release, cmd *exec.Cmd) error {
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Root, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

func ldflags(r *release.Release) string {
	return "-X toolman/cmd/internal/setup.version=" + r.Version.String()
}

// environment leaves out what would make another program on another machine.
func environment(more ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOFIPS140", "GOOS", "GOARCH", "GOWORK":
		default:
			env = append(env, e)
		}
	}
	return append(env, append([]string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off"}, more...)...)
}
