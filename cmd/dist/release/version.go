package release

import (
	"fmt"
	"regexp"
	"strconv"
)

// A Version is one that every package format can express: 1.2.3, or before that 1.2.3-alpha.1,
// -beta.1, -dev.1 or -rc.1.
type Version struct {
	Core string // 1.2.3
	Pre  string // alpha, beta, dev or rc; empty for a release
	N    int    // the number after Pre
}

var versions = regexp.MustCompile(`^v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-(alpha|beta|dev|rc)\.(0|[1-9]\d*))?$`)

// ParseVersion reads a version.
func ParseVersion(s string) (Version, error) {
	m := versions.FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("version %q: it must be like 1.2.3, 1.2.3-alpha.1, -beta.1, -dev.1 or -rc.1, which all package formats can express", s)
	}
	v := Version{Core: m[1], Pre: m[2]}
	if v.Pre != "" {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return Version{}, fmt.Errorf("version %q: %w", s, err)
		}
		v.N = n
	}
	return v, nil
}

var described = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(-[a-z]+\.\d+)?-(\d+)-g[0-9a-f]+$`)

// Described is the version of a commit: what `git describe --tags --long` says of it, or without a
// tag nothing, and how many commits there are. Between two releases it is a version before the next
// one.
func Described(describe string, commits int) (Version, error) {
	if describe == "" {
		return Version{Core: "0.0.0", Pre: "dev", N: commits}, nil
	}
	m := described.FindStringSubmatch(describe)
	if m == nil {
		return Version{}, fmt.Errorf("git describe says %q, which is no version: give one with -version", describe)
	}
	if m[5] == "0" { // the commit has the tag
		return ParseVersion(m[1] + "." + m[2] + "." + m[3] + m[4])
	}
	patch, err := strconv.Atoi(m[3])
	if err != nil {
		return Version{}, err
	}
	if m[4] == "" {
		patch++
	}
	return Version{Core: fmt.Sprintf("%s.%s.%d", m[1], m[2], patch), Pre: "dev", N: commits}, nil
}

// String is the version as semantic versioning has it, which is also that of npm.
func (v Version) String() string {
	if v.Pre == "" {
		return v.Core
	}
	return fmt.Sprintf("%s-%s.%d", v.Core, v.Pre, v.N)
}

// Python is the version as Python's packages have it.
func (v Version) Python() string {
	if v.Pre == "" {
		return v.Core
	}
	return v.Core + map[string]string{"alpha": "a", "beta": "b", "dev": ".dev", "rc": "rc"}[v.Pre] + strconv.Itoa(v.N)
}

// Debian is the version as deb and rpm packages have it, where a tilde sorts before the end.
func (v Version) Debian() string {
	if v.Pre == "" {
		return v.Core
	}
	return fmt.Sprintf("%s~%s.%d", v.Core, v.Pre, v.N)
}

// Alpine is the version as apk packages have it. They know no "dev": "pre" is between beta and rc,
// as dev is in semantic versioning.
func (v Version) Alpine() string {
	if v.Pre == "" {
		return v.Core
	}
	pre := v.Pre
	if pre == "dev" {
		pre = "pre"
	}
	return fmt.Sprintf("%s_%s%d", v.Core, pre, v.N)
}
