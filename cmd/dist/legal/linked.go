package legal

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/dist/release"
)

// A Module is one that is linked, or the standard library.
type Module struct {
	Path, Version, Sum string
	Texts              []Text   // its licenses and notices
	Licenses           []string // SPDX identifiers
	Needs              []string // paths of modules that its linked packages import

	dir      string
	packages []string // folders
}

// A Text is a file with a license or a notice.
type Text struct {
	File string // from the module's folder
	Text string
}

// std stands for the standard library.
const std = "std"

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

// Linked returns the modules of a program in the order of their paths, and the paths of those that
// toolman's own packages import. The standard library is among them.
func Linked(root string, b release.Build) (modules []*Module, direct []string, err error) {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", "./cmd/toolman")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.OS, "GOARCH="+b.Arch, "GOFLAGS=")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	info, err := buildinfo.ReadFile(b.Path)
	if err != nil {
		return nil, nil, err
	}
	owner := map[string]string{} // of a package: its module
	byPath := map[string]*Module{}
	needs := map[string]map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		of := "" // toolman
		switch {
		case p.Standard:
			of = std
			if byPath[std] == nil {
				goroot := strings.TrimSuffix(p.Dir, filepath.Join("src", filepath.FromSlash(p.ImportPath)))
				byPath[std] = &Module{Path: std, Version: strings.TrimPrefix(info.GoVersion, "go"), dir: filepath.Clean(goroot)}
			}
		case p.Module == nil:
			return nil, nil, fmt.Errorf("package %s has no module", p.ImportPath)
		case p.Module.Replace != nil:
			return nil, nil, fmt.Errorf("module %s is replaced: a release is made of published modules", p.Module.Path)
		case !p.Module.Main:
			of = p.Module.Path
			m := byPath[of]
			if m == nil {
				m = &Module{Path: of, Version: p.Module.Version, dir: p.Module.Dir}
				byPath[of] = m
			}
			m.packages = append(m.packages, p.Dir)
		}
		owner[p.ImportPath] = of
		if needs[of] == nil {
			needs[of] = map[string]bool{}
		}
		for _, imported := range p.Imports { // go list names what a package needs before it
			if to, ok := owner[imported]; ok && to != of {
				needs[of][to] = true
			}
		}
	}
	for path, m := range byPath {
		m.Needs = slices.Sorted(maps.Keys(needs[path]))
	}
	if err := compare(byPath, info); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", b.Path, err)
	}
	modules = slices.SortedFunc(maps.Values(byPath), func(a, b *Module) int { return strings.Compare(a.Path, b.Path) })
	for _, m := range modules {
		if err := m.read(); err != nil {
			return nil, nil, err
		}
	}
	return modules, slices.Sorted(maps.Keys(needs[""])), nil
}

// compare holds the modules against those that the program says it has, and takes their sums.
func compare(modules map[string]*Module, info *buildinfo.BuildInfo) error {
	for _, d := range info.Deps {
		m := modules[d.Path]
		if m == nil || m.Version != d.Version {
			return fmt.Errorf("it has module %s %s, and go list names another or none", d.Path, d.Version)
		}
		m.Sum = d.Sum
	}
	if len(info.Deps) != len(modules)-1 {
		return fmt.Errorf("it has %d modules, and go list names %d", len(info.Deps), len(modules)-1)
	}
	return nil
}
