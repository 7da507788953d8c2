package release

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// What every package says of toolman.
const (
	Name        = "toolman"
	Summary     = "One MCP server in front of many"
	Description = "toolman is a gateway for the Model Context Protocol (MCP): one MCP server in front of all your others. The model sees only the tools that it needs, and activates the rest itself."
	License     = "MIT"
	Authors     = "The toolman authors"
)

// A Release is what all files of one `make dist` have in common.
type Release struct {
	Version    Version
	Time       time.Time // of the commit; every file in every archive has it
	Repository string    // https://github.com/OWNER/NAME, where the files will be
	PyPI       string    // the name of the Python package
	Root       string    // the root of the module
	Docs       string    // a folder with man/ and completions/
	Licenses   string    // a file with the licenses of what is linked
	Out        string    // where the files go
	Builds     []Build
}

// A Build is the program for one platform.
type Build struct {
	Platform
	Path string
}

// Path is the path of a file of the release.
func (r *Release) Path(name string) string { return filepath.Join(r.Out, name) }

// Source is the path of a file of the repository.
func (r *Release) Source(name string) string { return filepath.Join(r.Root, name) }

// Owner is who has the repository.
func (r *Release) Owner() string {
	return strings.Split(strings.TrimPrefix(r.Repository, "https://github.com/"), "/")[0]
}

// MCPName is the name of toolman in the MCP registry.
func (r *Release) MCPName() string { return "io.github." + r.Owner() + "/" + Name }

// Download is where a file of the release can be had.
func (r *Release) Download(file string) string {
	return fmt.Sprintf("%s/releases/download/v%s/%s", r.Repository, r.Version, file)
}

// Build returns the program for a platform, or false.
func (r *Release) Build(os, arch string) (Build, bool) {
	for _, b := range r.Builds {
		if b.OS == os && b.Arch == arch {
			return b, true
		}
	}
	return Build{}, false
}
