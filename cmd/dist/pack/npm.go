package pack

import (
	_ "embed"
	"fmt"

	"toolman/cmd/dist/archive"
	"toolman/cmd/dist/release"
)

//go:embed files/toolman.js
var launcher []byte

// npmPackage has the keys of package.json that toolman's packages use.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	MCPName     string            `json:"mcpName,omitempty"`
	Keywords    []string          `json:"keywords,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

const npmReadme = `# toolman

%s

    npx -y toolman --help

See %s.
`

// NPM makes the npm packages.
func NPM(r *release.Release) error {
	root := npmPackage{
		Name: release.Name, MCPName: r.MCPName(), Keywords: []string{"mcp", "mcp-server", "gateway", "proxy"},
		Description: release.Summary,
		Bin:         map[string]string{release.Name: "bin/toolman.js"}, Engines: map[string]string{"node": ">=18"},
		Optional: map[string]string{},
	}
	for _, b := range r.Builds {
		name := fmt.Sprintf("%s-%s-%s", release.Name, b.NodeOS(), b.NodeCPU())
		root.Optional[name] = r.Version.String()
		p := npmPackage{Name: name, Description: fmt.Sprintf("toolman for %s on %s: install the package toolman instead", b.NodeOS(), b.NodeCPU()),
			OS: []string{b.NodeOS()}, CPU: []string{b.NodeCPU()}, Unplugged: true}
		var files archive.Files
		if err := files.AddFile("package/bin/"+b.Program(), b.Path, true); err != nil {
			return err
		}
		if err := files.AddFile("package/THIRD-PARTY-LICENSES.txt", r.Licenses, false); err != nil {
			return err
		}
		if err := writeNPM(r, p, &files); err != nil {
			return err
		}
	}
	var files archive.Files
	files.Add("package/bin/toolman.js", launcher, true)
	return writeNPM(r, root, &files)
}

// writeNPM writes a package as `npm pack` does.
func writeNPM(r *release.Release, p npmPackage, files *archive.Files) error {
	p.Version, p.License, p.Homepage = r.Version.String(), release.License, r.Repository
	p.Repository = map[string]string{"type": "git", "url": "git+" + r.Repository + ".git"}
	text, err := indented(p)
	if err != nil {
		return err
	}
	files.Add("package/package.json", text, false)
	files.Add("package/README.md", fmt.Appendf(nil, npmReadme, release.Description, r.Repository), false)
	if err := files.AddFile("package/LICENSE", r.Source("LICENSE"), false); err != nil {
		return err
	}
	return files.Tar(r.Path(fmt.Sprintf("%s-%s.tgz", p.Name, r.Version)), r.Time)
}
