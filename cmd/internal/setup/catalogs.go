package setup

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/store/catalogs"
	"toolman/router"
)

// addMemories gives the servers of a router their files in the catalog cache. A server that is
// another one in each session, or that cannot be used, has none.
func addMemories(o *router.Options, c *config.Config) {
	folder, err := catalogs.Open()
	if err != nil {
		return // there is no place for it
	}
	for i, s := range Enabled(c) {
		if !s.Uncached && !s.ForEachSession() && !s.ForEachAgent() && s.Missing == nil {
			o.Servers[i].Memory = folder.Memory(catalogs.Server{Name: cmp.Or(s.Name, fmt.Sprintf("server %d", i+1)), Config: c.Path,
				Start: func() string { return identity(s) }, Dir: cmp.Or(s.Dir, workingDir())})
		}
	}
}

// identity returns all that decides what a server is: how it is started or reached. The program itself
// does not count: a new version of it offers much of what the old one did, and what differs is announced
// once it is ready. Neither do the values of secrets: they change, and nothing made from them is to be
// written.
func identity(s *config.Server) string {
	id := struct {
		Argv, Inherit, Env, Headers []string
		Dir, URL, Socket, Era       string
		Account                     string `json:"Account,omitzero"`
	}{Argv: s.Argv, Inherit: s.InheritEnv, Dir: s.Dir, Socket: s.Socket, Era: s.Era}
	for _, v := range s.Env {
		if name, _, _ := strings.Cut(v, "="); reference.IsSecretName(name) {
			v = name
		}
		id.Env = append(id.Env, v)
	}
	slices.Sort(id.Env)
	if s.Remote != nil {
		id.URL, id.Headers = s.Remote.URL, slices.Sorted(maps.Keys(s.Remote.Header))
		if s.Remote.OAuth != nil {
			id.Account = s.Remote.OAuth.Account
		}
	}
	return string(cli.JSON(id))
}

func workingDir() string {
	dir, _ := os.Getwd() // "" is as good as any other text
	return dir
}
