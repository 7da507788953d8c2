package importer

import (
	"path/filepath"
	"slices"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire/sanitize"
)

// SecretsFolder returns the folder for files with secrets in that of the user's tools.toml.
func SecretsFolder(config string) string { return filepath.Join(config, "secrets") }

// SecretNames returns the variables that stand for secrets, sorted.
func (p *Plan) SecretNames() (names []string) {
	for _, s := range p.Servers {
		for _, secret := range s.Secrets {
			names = append(names, secret.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// SecretFiles returns the files with secrets, if references to files stand for them.
func (p *Plan) SecretFiles() (changes []filechange.Change, err error) {
	for _, s := range p.Servers {
		for _, secret := range s.Secrets {
			if secret.Path == "" {
				continue
			}
			c := filechange.Change{Path: secret.Path, After: []byte(secret.Value), Mode: 0o600}
			if c.Before, err = filechange.Read(c.Path, source.MaxBytes); err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(changes, func(other filechange.Change) bool { return other.Path == c.Path }) {
				changes = append(changes, c)
			}
		}
	}
	return changes, nil
}

// Where says which file has the value of a variable of the server, or "".
func (s *Server) Where(name string) string {
	for _, secret := range s.Secrets {
		switch {
		case secret.Name != name:
		case secret.File != "":
			return ", and " + sanitize.Line(secret.File) + " has its value"
		default:
			return ", and " + sanitize.Line(s.Entries[0].File.Path) + " has its value"
		}
	}
	return ""
}

// WithVariable returns the server with a variable in the place of the file for a secret.
func WithVariable(s toolsfile.Server, secret Secret) toolsfile.Server {
	copied := Server{Server: s, Secrets: []Secret{secret}}
	copied.Args, copied.Env, copied.Headers = slices.Clone(s.Args), slices.Clone(s.Env), slices.Clone(s.Headers)
	copied.replace("${file:"+secret.written+"}", "${"+secret.Name+"}")
	return copied.Server
}
