package pack

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"

	"toolman/cmd/dist/release"
)

// sum is the SHA-256 of a file of the release.
func sum(r *release.Release, file string) (string, error) {
	data, err := os.ReadFile(r.Path(file))
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// ServerJSON makes the entry of the MCP registry. It is made after the packages that it names.
func ServerJSON(r *release.Release) error {
	bundle, err := sum(r, Bundle(r))
	if err != nil {
		return err
	}
	stdio := object{"type": "stdio"}
	arguments := []object{{
		"type": "named", "name": "--config", "format": "filepath", "isRequired": true,
		"description": "The configuration file (tools.toml), which names the servers behind toolman",
	}}
	text, err := indented(object{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        r.MCPName(),
		"title":       release.Name,
		"description": release.Summary,
		"version":     r.Version.String(),
		"websiteUrl":  r.Repository,
		"repository":  object{"url": r.Repository, "source": "github"},
		"packages": []object{
			{"registryType": "npm", "identifier": release.Name, "version": r.Version.String(), "runtimeHint": "npx", "transport": stdio, "packageArguments": arguments},
			{"registryType": "pypi", "identifier": r.PyPI, "version": r.Version.Python(), "runtimeHint": "uvx", "transport": stdio, "packageArguments": arguments,
				"runtimeArguments": []object{{"type": "named", "name": "--from", "value": r.PyPI + "==" + r.Version.Python()}, {"type": "positional", "value": release.Name}}},
			{"registryType": "mcpb", "identifier": r.Download(Bundle(r)), "version": r.Version.String(), "fileSha256": bundle, "transport": stdio},
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(r.Path("server.json"), text, 0o644)
}

// indented is JSON for people, with an end of line.
func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

//go:embed files/toolman.rb.tmpl
var formula string

// Formula makes the Homebrew formula. It is made after the archives that it names.
func Formula(r *release.Release) error {
	t, err := template.New("formula").Funcs(template.FuncMap{
		"url": func(os, arch string) string { return r.Download(Archive(r, release.Platform{OS: os, Arch: arch})) },
		"sum": func(os, arch string) (string, error) { return sum(r, Archive(r, release.Platform{OS: os, Arch: arch})) },
		"has": func(os, arch string) bool { _, ok := r.Build(os, arch); return ok },
	}).Parse(formula)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, object{"Release": r, "Summary": release.Summary, "License": release.License,
		"Systems":    map[string]string{"darwin": "macos", "linux": "linux"},
		"Processors": map[string]string{"amd64": "intel", "arm64": "arm"}}); err != nil {
		return err
	}
	return os.WriteFile(r.Path("toolman.rb"), out.Bytes(), 0o644)
}

// Archive is the name of the archive for a platform.
func Archive(r *release.Release, p release.Platform) string {
	ext := "tar.gz"
	if p.OS == "windows" {
		ext = "zip"
	}
	return Folder(r, p) + "." + ext
}

// Folder is the only folder in the archive for a platform.
func Folder(r *release.Release, p release.Platform) string {
	return strings.Join([]string{release.Name, r.Version.String(), p.OS, p.Arch}, "_")
}
