package pack

import (
	"encoding/binary"
	"fmt"
	"os"

	"toolman/cmd/dist/archive"
	"toolman/cmd/dist/release"
)

// onLinux chooses the program for the processor, which a bundle cannot.
const onLinux = `#!/bin/sh
case $(uname -m) in
x86_64) exec "${0%/*}/toolman-amd64" "$@" ;;
aarch64) exec "${0%/*}/toolman-arm64" "$@" ;;
esac
echo "toolman: error: there is no build for $(uname -m)" >&2
exit 1
`

type object = map[string]any

// MCPB makes the bundle for applications such as Claude Desktop. One file serves all platforms: on
// macOS it has a program for both processors, and Windows runs that for amd64 on both.
func MCPB(r *release.Release) error {
	var files archive.Files
	overrides := object{}
	var platforms []string
	args := []string{"--config", "${user_config.config}"}
	command := func(node, path string) {
		overrides[node] = object{"command": "${__dirname}/" + path, "args": args}
		platforms = append(platforms, node)
	}
	var slices []slice
	for _, arch := range []string{"amd64", "arm64"} {
		if b, ok := r.Build("darwin", arch); ok {
			data, err := os.ReadFile(b.Path)
			if err != nil {
				return err
			}
			slices = append(slices, slice{machoCPU[arch], data})
		}
	}
	if len(slices) > 0 {
		files.Add("server/darwin/toolman", fat(slices), true)
		command("darwin", "server/darwin/toolman")
	}
	if b, ok := r.Build("windows", "amd64"); ok {
		if err := files.AddFile("server/win32/toolman.exe", b.Path, true); err != nil {
			return err
		}
		command("win32", "server/win32/toolman.exe")
	}
	linux := false
	for _, arch := range []string{"amd64", "arm64"} {
		if b, ok := r.Build("linux", arch); ok {
			linux = true
			if err := files.AddFile("server/linux/toolman-"+arch, b.Path, true); err != nil {
				return err
			}
		}
	}
	if linux {
		files.Add("server/linux/toolman", []byte(onLinux), true)
		command("linux", "server/linux/toolman")
	}
	if len(platforms) == 0 {
		return fmt.Errorf("no program for an MCPB bundle was built")
	}
	entry := overrides[platforms[0]].(object)["command"].(string)
	manifest := object{
		"manifest_version": "0.3",
		"name":             release.Name,
		"display_name":     release.Name,
		"version":          r.Version.String(),
		"description":      release.Summary,
		"long_description": release.Description,
		"author":           object{"name": release.Authors, "url": r.Repository},
		"repository":       object{"type": "git", "url": r.Repository},
		"homepage":         r.Repository,
		"license":          release.License,
		"keywords":         []string{"mcp", "gateway", "proxy"},
		"server": object{
			"type":        "binary",
			"entry_point": entry[len("${__dirname}/"):],
			"mcp_config":  object{"command": entry, "args": args, "platform_overrides": overrides},
		},
		"tools_generated":   true,
		"prompts_generated": true,
		"compatibility":     object{"platforms": platforms},
		"user_config": object{"config": object{
			"type": "file", "title": "tools.toml", "required": true,
			"description": "The configuration file, which names the servers behind toolman",
		}},
	}
	text, err := indented(manifest)
	if err != nil {
		return err
	}
	files.Add("manifest.json", text, false)
	if err := files.AddFile("LICENSE", r.Source("LICENSE"), false); err != nil {
		return err
	}
	if err := files.AddFile("THIRD-PARTY-LICENSES.txt", r.Licenses, false); err != nil {
		return err
	}
	return files.Zip(r.Path(Bundle(r)), r.Time)
}

// Bundle is the name of the MCPB bundle.
func Bundle(r *release.Release) string { return fmt.Sprintf("%s-%s.mcpb", release.Name, r.Version) }

// A slice of a universal program of macOS is the program for one processor.
type slice struct {
	cpu  [2]uint32 // type and subtype
	data []byte
}

var machoCPU = map[string][2]uint32{"amd64": {0x01000007, 3}, "arm64": {0x0100000c, 0}}

// fat joins programs for several processors into one. Each begins at a multiple of its page.
func fat(slices []slice) []byte {
	const align = 14
	be := binary.BigEndian
	out := be.AppendUint32(be.AppendUint32(nil, 0xcafebabe), uint32(len(slices)))
	at := 1 << align
	for _, s := range slices {
		for _, n := range []uint32{s.cpu[0], s.cpu[1], uint32(at), uint32(len(s.data)), align} {
			out = be.AppendUint32(out, n)
		}
		at = (at + len(s.data) + 1<<align - 1) >> align << align
	}
	for _, s := range slices {
		out = append(out, make([]byte, (len(out)+1<<align-1)>>align<<align-len(out))...)
		out = append(out, s.data...)
	}
	return out
}
