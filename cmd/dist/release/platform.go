package release

import (
	"fmt"
	"strings"
)

// A Platform is a system and a processor, as Go calls them.
type Platform struct{ OS, Arch string }

// Platforms are all for which toolman is released.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// ParsePlatforms reads a list such as linux/amd64,darwin/arm64; "all" are all.
func ParsePlatforms(list string) ([]Platform, error) {
	if list == "all" {
		return Platforms, nil
	}
	var chosen []Platform
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, p := range Platforms {
			if p.String() == name {
				chosen, found = append(chosen, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("platform %q: there are %v", name, Platforms)
		}
	}
	return chosen, nil
}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Program is the name of the program's file.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return Name + ".exe"
	}
	return Name
}

// NodeOS and NodeCPU are the platform as Node.js has it in process.platform and process.arch.
func (p Platform) NodeOS() string {
	if p.OS == "windows" {
		return "win32"
	}
	return p.OS
}

// NodeCPU is explained at NodeOS.
func (p Platform) NodeCPU() string {
	if p.Arch == "amd64" {
		return "x64"
	}
	return p.Arch
}

// WheelTag is the platform as a Python wheel has it. The program is static, so it runs with any C
// library. Go says which macOS it needs at least.
func (p Platform) WheelTag() string {
	cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.Arch]
	switch p.OS {
	case "darwin":
		if p.Arch == "arm64" {
			cpu = "arm64"
		}
		return "macosx_12_0_" + cpu
	case "windows":
		return "win_" + p.Arch
	}
	return fmt.Sprintf("manylinux_2_17_%[1]s.manylinux2014_%[1]s.musllinux_1_1_%[1]s", cpu)
}
