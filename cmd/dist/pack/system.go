package pack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolman/cmd/dist/archive"
	"toolman/cmd/dist/release"
)

// NFPM is the program that writes deb, rpm and apk packages.
const NFPM = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

// System makes the deb, rpm and apk packages for Linux. It uses the folder scratch, and keeps
// nothing in it. An nfpm that is given as empty is built.
func System(r *release.Release, scratch, nfpm string) error {
	command := []string{"go", "run", NFPM}
	if nfpm != "" {
		command = []string{nfpm}
	}
	files := systemFiles{r: r, dir: scratch}
	if err := files.compress(); err != nil {
		return err
	}
	for _, b := range r.Builds {
		if b.OS != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm", "apk"} {
			config := filepath.Join(scratch, fmt.Sprintf("%s-%s.json", format, b.Arch))
			text, err := indented(files.config(b, format)) // which is YAML, too
			if err != nil {
				return err
			}
			if err := os.WriteFile(config, text, 0o644); err != nil {
				return err
			}
			run := exec.Command(command[0], append(command[1:], "package", "--config", config, "--packager", format, "--target", r.Out+"/")...)
			run.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()), "GOFLAGS=", "CGO_ENABLED=0")
			if out, err := run.CombinedOutput(); err != nil {
				return fmt.Errorf("nfpm, %s for %s: %w\n%s", format, b.Arch, err, out)
			}
		}
	}
	return nil
}

// systemFiles are the files of the packages beside the program.
type systemFiles struct {
	r   *release.Release
	dir string
	man []string // names of compressed pages
}

// compress writes the manual pages and Debian's own files as the packages have them.
func (s *systemFiles) compress() error {
	pages, err := os.ReadDir(filepath.Join(s.r.Docs, "man"))
	if err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		data, err := archive.Gzip(data)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(s.dir, name), data, 0o644)
	}
	for _, p := range pages {
		data, err := os.ReadFile(filepath.Join(s.r.Docs, "man", p.Name()))
		if err != nil {
			return err
		}
		if err := write(p.Name()+".gz", data); err != nil {
			return err
		}
		s.man = append(s.man, p.Name()+".gz")
	}
	changes := fmt.Sprintf("toolman (%s) unstable; urgency=medium\n\n  * Release %s: see %s.\n\n -- %s  %s\n",
		s.r.Version.Debian(), s.r.Version, s.r.Repository, s.maintainer(), s.r.Time.UTC().Format(time.RFC1123Z))
	if err := write("changelog.gz", []byte(changes)); err != nil {
		return err
	}
	license, err := os.ReadFile(s.r.Source("LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "copyright"), s.copyright(string(license)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "lintian"), []byte("# Go programs are static, so that one runs everywhere.\ntoolman: statically-linked-binary\n"), 0o644)
}

// copyright is the license in Debian's form.
func (s *systemFiles) copyright(license string) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: toolman\nSource: %s\n"+
		"Comment: The program has parts of other modules in it, whose licenses are in THIRD-PARTY-LICENSES.txt.\n\nFiles: *\n", s.r.Repository)
	_, text, _ := strings.Cut(license, "\n\n")
	holder, text, _ := strings.Cut(text, "\n\n")
	fmt.Fprintf(&out, "Copyright: %s\nLicense: Expat\n", strings.TrimPrefix(holder, "Copyright (c) "))
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		if line == "\n" {
			line = ".\n"
		}
		out.WriteString(" " + line)
	}
	return []byte(out.String())
}

func (s *systemFiles) maintainer() string {
	return fmt.Sprintf("%s <%s@users.noreply.github.com>", release.Authors, s.r.Owner())
}

// config is the configuration of nfpm.
func (s *systemFiles) config(b release.Build, format string) object {
	var contents []object
	add := func(src, dst string, mode os.FileMode) {
		contents = append(contents, object{"src": src, "dst": dst, "file_info": object{"mode": mode, "mtime": s.r.Time}})
	}
	add(b.Path, "/usr/bin/toolman", 0o755)
	zsh := "/usr/share/zsh/site-functions/_toolman"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_toolman"
	}
	completions := filepath.Join(s.r.Docs, "completions")
	add(filepath.Join(completions, "toolman.bash"), "/usr/share/bash-completion/completions/toolman", 0o644)
	add(filepath.Join(completions, "_toolman"), zsh, 0o644)
	add(filepath.Join(completions, "toolman.fish"), "/usr/share/fish/vendor_completions.d/toolman.fish", 0o644)
	for _, page := range s.man {
		add(filepath.Join(s.dir, page), "/usr/share/man/man1/"+page, 0o644)
	}
	licenses := "/usr/share/licenses/toolman/"
	if format == "deb" {
		licenses = "/usr/share/doc/toolman/"
		add(filepath.Join(s.dir, "copyright"), licenses+"copyright", 0o644)
		add(filepath.Join(s.dir, "changelog.gz"), licenses+"changelog.gz", 0o644)
		add(filepath.Join(s.dir, "lintian"), "/usr/share/lintian/overrides/toolman", 0o644)
	} else {
		add(s.r.Source("LICENSE"), licenses+"LICENSE", 0o644)
	}
	add(s.r.Licenses, licenses+"THIRD-PARTY-LICENSES.txt", 0o644)
	config := object{
		"name": release.Name, "arch": b.Arch, "platform": "linux", "version_schema": "none",
		"version": s.r.Version.Debian(), "section": "net", "priority": "optional",
		"maintainer": s.maintainer(), "description": release.Summary + "\n" + wrapped(release.Description),
		"homepage": s.r.Repository, "license": release.License, "mtime": s.r.Time,
		"contents": contents, "umask": 0o022,
	}
	switch format {
	case "apk":
		config["version"], config["release"] = s.r.Version.Alpine(), "0"
		config["description"] = release.Summary
	case "rpm":
		config["release"], config["description"] = "1", wrapped(release.Description)
		config["rpm"] = object{"summary": release.Summary, "buildhost": "localhost"}
	}
	return config
}

// wrapped breaks a text into lines that package managers show whole.
func wrapped(text string) string {
	var out strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column+len(word) > 75:
			out.WriteByte('\n')
			column = 0
		case column > 0:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	return out.String()
}
