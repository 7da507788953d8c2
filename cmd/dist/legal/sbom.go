package legal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"toolman/cmd/dist/release"
)

// What follows has the names of CycloneDX 1.6.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp  string      `json:"timestamp"`
	Lifecycles []lifecycle `json:"lifecycles"`
	Component  component   `json:"component"`
}

type lifecycle struct {
	Phase string `json:"phase"`
}

type component struct {
	Type        string     `json:"type"`
	Ref         string     `json:"bom-ref"`
	Name        string     `json:"name"`
	Version     string     `json:"version"`
	Description string     `json:"description,omitempty"`
	Hashes      []hash     `json:"hashes,omitempty"`
	Licenses    []licensed `json:"licenses"`
	PURL        string     `json:"purl"`
	Properties  []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

// licensed has one license, or an expression of several.
type licensed struct {
	License    *spdx  `json:"license,omitempty"`
	Expression string `json:"expression,omitempty"`
}

type spdx struct {
	ID string `json:"id"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref  string   `json:"ref"`
	Uses []string `json:"dependsOn"`
}

// SBOM is the bill of materials of a program.
func SBOM(r *release.Release, b release.Build, modules []*Module, direct []string) ([]byte, error) {
	program, err := os.ReadFile(b.Path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	self := fmt.Sprintf("pkg:generic/%s@%s?arch=%s&os=%s", release.Name, r.Version, b.Arch, b.OS)
	refs := map[string]string{}
	for _, m := range modules {
		refs[m.Path] = m.purl()
	}
	named := func(paths []string) []string {
		all := make([]string, 0, len(paths))
		for _, p := range paths {
			all = append(all, refs[p])
		}
		return all
	}
	doc := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		// The same program has the same document, so its number is made of the program's hash.
		Serial: "urn:uuid:" + uuid(sum),
		Metadata: metadata{
			Timestamp: r.Time.UTC().Format(time.RFC3339), Lifecycles: []lifecycle{{"build"}},
			Component: component{Type: "application", Ref: self, Name: release.Name, Version: r.Version.String(), Description: release.Summary,
				Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licenses: []licensed{{License: &spdx{release.License}}}, PURL: self},
		},
		Dependencies: []dependency{{self, named(direct)}},
	}
	for _, m := range modules {
		c := component{Type: "library", Ref: refs[m.Path], Name: m.Path, Version: m.Version, PURL: refs[m.Path]}
		if len(m.Licenses) == 1 {
			c.Licenses = []licensed{{License: &spdx{m.Licenses[0]}}}
		} else {
			c.Licenses = []licensed{{Expression: m.Expression()}}
		}
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		doc.Components = append(doc.Components, c)
		doc.Dependencies = append(doc.Dependencies, dependency{refs[m.Path], named(m.Needs)})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

func (m *Module) purl() string {
	return "pkg:golang/" + strings.ToLower(m.Path) + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
}

// uuid is a UUID of version 8, whose bits are those of a hash.
func uuid(sum [sha256.Size]byte) string {
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
