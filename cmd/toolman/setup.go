package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/pins"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/metatool"
	"toolman/router/view"
	"toolman/spawn"
)

// find finds the configuration.
func (a *app) find() (config.Location, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Location{}, err
	}
	return config.Find(a.config, os.Getenv, dir)
}

// load finds and reads the configuration.
func (a *app) load() (*config.Config, config.Location, error) {
	at, err := a.find()
	if err != nil {
		return nil, at, err
	}
	c, err := config.Load(at.Path, a.configOptions())
	return c, at, err
}

func (a *app) configOptions() config.Options {
	return config.Options{Agent: a.agent, Service: a.service, Task: a.task, CheckGlob: func(pattern string) error {
		_, err := catalog.CompileGlobs([]string{pattern})
		return err
	}}
}

// addPins gives the router what the lock file of the configuration says, if there is one.
func addPins(o *router.Options, c *config.Config) error {
	set, err := pins.Load(pins.Path(c.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	o.Pins = &catalog.Pins{}
	for k := range o.Pins {
		o.Pins[k] = map[string]string{}
	}
	for k, pin := range set {
		o.Pins[k.Kind][k.Name] = pin.RefID
	}
	addEras(o, set)
	return nil
}

// addEras has servers spoken to in the era that they were pinned in.
func addEras(o *router.Options, set pins.Set) {
	o.Eras = map[string]mcpwire.Era{}
	for server, era := range set.Eras() {
		o.Eras[server] = mcpwire.ParseEra(era)
	}
}

// options turns the configuration into what the router needs.
func options(c *config.Config) (router.Options, error) {
	globs, err := activeGlobs(c)
	if err != nil {
		return router.Options{}, err
	}
	unpinned, err := catalog.CompileGlobs(c.Unpinned)
	if err != nil {
		return router.Options{}, err
	}
	rights, err := c.Rules.For(c.Agent)
	if err != nil {
		return router.Options{}, err
	}
	guard, err := c.Dangers.Guard()
	if err != nil {
		return router.Options{}, err
	}
	o := router.Options{
		Policy: rights, Unpinned: unpinned, Dangers: guard, Scrub: trace.NewScrubber(c.Secrets).Values,
		Active: globs, Settle: c.Settle, CatalogBytes: catalogBytes(c.CatalogBytes), URISeparator: c.URISeparator,
		Mode: modeOf(c.ActivationMode), AlwaysLoad: c.AlwaysLoad, Version: version(),
	}
	if err := addToolsets(&o, c); err != nil {
		return router.Options{}, err
	}
	for _, s := range c.Servers {
		if s.Enabled {
			o.Servers = append(o.Servers, serverOf(s, filepath.Base(c.Path)))
		}
	}
	return o, nil
}

// serverOf is what the router needs of a server of a file.
func serverOf(s config.Server, file string) router.Server {
	return router.Server{
		Fingerprint:  fingerprint(s),
		Name:         s.Name,
		Namespace:    s.Namespace,
		Command:      spawn.Command{Argv: s.Argv, Env: environOf(&s), Dir: s.Dir},
		Socket:       s.Socket,
		Dial:         dialer(&s),
		For:          forSession(s, file),
		StartTimeout: s.StartTimeout,
		CallTimeout:  s.CallTimeout,
		MaxCalls:     maxCalls(&s),
		MaxCallsAt:   maxCallsAt(&s, file),
		Era:          mcpwire.ParseEra(s.Era),
		Share:        router.ParseShare(s.Share),
		FrameLimit:   s.MaxMessageBytes,
	}
}

// environOf is the environment of a server's process.
func environOf(s *config.Server) []string {
	inherited := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !s.Inherits(name)
	})
	return spawn.Environ(inherited, s.Env)
}

// activeGlobs are the patterns of active_toolsets, each with where it stands.
func activeGlobs(c *config.Config) (catalog.Globs, error) {
	var globs catalog.Globs
	for _, a := range c.ActiveToolsets {
		one, err := catalog.CompileGlobs([]string{a.Pattern})
		if err != nil {
			return nil, err
		}
		one[0].Rule = activeRule(a, filepath.Base(c.Path))
		globs = append(globs, one...)
	}
	return globs, nil
}

// activeRule says in which list a pattern stands.
func activeRule(a config.Active, file string) string {
	list := "active_toolsets"
	if a.Task {
		list += " of a task rule"
	}
	if a.Toolset != "" {
		return fmt.Sprintf("%s has %q (%s:%d), and that has %q", list, "toolset:"+a.Toolset, file, a.Line, a.Pattern)
	}
	return fmt.Sprintf("%s has %q (%s:%d)", list, a.Pattern, file, a.Line)
}

func catalogBytes(b config.CatalogBytes) int {
	switch b {
	case config.CatalogAuto:
		return metatool.CatalogAuto
	case config.CatalogAll:
		return 0
	}
	return int(b)
}

// modeOf is the mode that the configuration names.
func modeOf(word string) view.Mode {
	for _, m := range []view.Mode{view.ModeMutate, view.ModeCall, view.ModeStatic} {
		if m.String() == word {
			return m
		}
	}
	return view.ModeAuto
}
