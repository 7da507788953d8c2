package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"toolman/cmd/dist/archive"
	"toolman/cmd/dist/legal"
	"toolman/cmd/dist/pack"
	"toolman/cmd/dist/release"
)

// noRepository stands for the address of a repository that is not known.
const noRepository = "https://github.com/OWNER/toolman"

type flags struct {
	out, version, repository, pypi, platforms, nfpm string
}

func main() {
	var f flags
	flag.StringVar(&f.out, "o", "build/dist", "the `folder` to write to; it must be empty or not exist")
	flag.StringVar(&f.version, "version", "", "the `version`, such as 1.2.3 or 1.3.0-rc.1 (default: that of the last tag, or one after it)")
	flag.StringVar(&f.repository, "repository", noRepository, "the `address` on GitHub where the files will be published")
	flag.StringVar(&f.pypi, "pypi", "toolman-mcp", "the `name` of the Python package")
	flag.StringVar(&f.platforms, "platforms", "all", "a `list` such as linux/amd64,darwin/arm64")
	flag.StringVar(&f.nfpm, "nfpm", "", "the `path` of nfpm, of the version that this program would build")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "dist: error: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "dist: error:", err)
		os.Exit(1)
	}
}

var repositories = regexp.MustCompile(`^https://github\.com/[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

func run(f flags) error {
	r, err := prepare(f)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "toolman-dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	platforms, err := release.ParsePlatforms(f.platforms)
	if err != nil {
		return err
	}
	fmt.Printf("toolman %s in %s\n", r.Version, r.Out)
	if err := docs(r, scratch); err != nil {
		return err
	}
	for _, p := range platforms {
		if err := build(r, p, scratch); err != nil {
			return err
		}
	}
	if err := licenses(r); err != nil {
		return err
	}
	for _, b := range r.Builds {
		if err := archived(r, b); err != nil {
			return err
		}
	}
	system := func(r *release.Release) error { return pack.System(r, scratch, f.nfpm) }
	for _, step := range []func(*release.Release) error{system, pack.NPM, pack.Wheels, pack.MCPB, pack.ServerJSON, pack.Formula, checksums} {
		if err := step(r); err != nil {
			return err
		}
	}
	if f.repository == noRepository {
		fmt.Println("server.json, toolman.rb and the packages name " + noRepository + ": give the real address before you publish them (make dist REPOSITORY=...)")
	}
	return nil
}

// prepare checks the flags and makes the folder.
func prepare(f flags) (*release.Release, error) {
	if !repositories.MatchString(f.repository) {
		return nil, fmt.Errorf("-repository %q: it must be like %s", f.repository, noRepository)
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	out, err := filepath.Abs(f.out)
	if err != nil {
		return nil, err
	}
	r := &release.Release{Repository: f.repository, PyPI: f.pypi, Root: root, Out: out, Licenses: filepath.Join(out, "THIRD-PARTY-LICENSES.txt")}
	if r.Version, err = version(root, f.version); err != nil {
		return nil, err
	}
	if r.Time, err = commitTime(root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s is not empty: remove what is there first", out))
	}
	return r, nil
}

// licenses writes the licenses of what is linked, and the bills of materials.
func licenses(r *release.Release) error {
	var all [][]*legal.Module
	for _, b := range r.Builds {
		modules, direct, err := legal.Linked(r.Root, b)
		if err != nil {
			return err
		}
		all = append(all, modules)
		bom, err := legal.SBOM(r, b, modules, direct)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.Path(pack.Folder(r, b.Platform)+".cdx.json"), bom, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(r.Licenses, legal.Notices(legal.Union(all...)), 0o644)
}

// archived writes the archive for a platform.
func archived(r *release.Release, b release.Build) error {
	folder := pack.Folder(r, b.Platform)
	var files archive.Files
	if err := errors.Join(
		files.AddFile(folder+"/"+b.Program(), b.Path, true),
		files.AddFile(folder+"/LICENSE", r.Source("LICENSE"), false),
		files.AddFile(folder+"/README.md", r.Source("README.md"), false),
		files.AddFile(folder+"/THIRD-PARTY-LICENSES.txt", r.Licenses, false),
		files.AddDir(folder+"/completions", filepath.Join(r.Docs, "completions")),
		files.AddDir(folder+"/man/man1", filepath.Join(r.Docs, "man")),
	); err != nil {
		return err
	}
	path := r.Path(pack.Archive(r, b.Platform))
	if b.OS == "windows" {
		return files.Zip(path, r.Time)
	}
	return files.Tar(path, r.Time)
}

// checksums writes the hashes of all files, as sha256sum -c reads them.
func checksums(r *release.Release) error {
	var out strings.Builder
	err := filepath.WalkDir(r.Out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), d.Name())
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(r.Path("SHA256SUMS"), []byte(out.String()), 0o644)
}
