package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/store"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/view"
)

// Options turns the configuration alone into the options of a router, without pins and without an
// equipped toolset. The values that sessions give are added to secrets.
func Options(c *config.Config, secrets *redact.Scrubber) (router.Options, error) {
	active, err1 := activeGlobs(c)
	unpinned, err2 := catalog.CompileGlobs(c.Unpinned)
	allowed, err3 := c.Rules.For(c.Agent)
	dangers, err4 := c.Dangers.Compile()
	toolsets, err5 := toolsetsOf(c)
	readOnly, err6 := readOnly(c)
	o := router.Options{
		Policy: allowed, Unpinned: unpinned, Dangers: dangers, ReadOnly: readOnly, Scrub: redact.NewScrubber(c.Secrets).Values,
		Active: active, Settle: c.Settle, CatalogBytes: c.CatalogBytes, URISeparator: c.URISeparator,
		Mode: Mode(c), AlwaysLoad: c.AlwaysLoad, Version: Version(),
		OnEquip: hookOf(c.OnEquip, "on_equip", c.Beside), OnDrift: hookOf(c.OnDrift, "on_drift", c.Beside),
		Toolsets: toolsets, Preloaded: preloaded(c), Shelf: store.ToolsetsBeside(c.Beside), AllowStale: c.AllowStaleRefs, MetaTools: MetaTools(c),
	}
	agent := c.Agent
	if c.Served {
		agent = "" // clients with credentials are other agents
	}
	for _, s := range Enabled(c) {
		o.Servers = append(o.Servers, newServer(*s, agent, filepath.Base(c.Path), secrets, &tokens{secrets: secrets}))
	}
	addMemories(&o, c)
	return o, errors.Join(err1, err2, err3, err4, err5, err6)
}

// FullOptions turns the configuration, and what is stored beside it, into the options of a
// router. It calls warn if the equipped toolset cannot be used.
func FullOptions(c *config.Config, secrets *redact.Scrubber, warn func(error)) (router.Options, error) {
	o, err := Options(c, secrets)
	if err != nil {
		return o, err
	}
	if err := addPins(&o, c); err != nil {
		return o, err
	}
	if o.Equipped, err = Equipped(&o, c); err != nil {
		warn(err)
	}
	return o, nil
}

// Enabled returns the servers of the configuration that are enabled.
func Enabled(c *config.Config) []*config.Server {
	var all []*config.Server
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled {
			all = append(all, s)
		}
	}
	return all
}

// addPins adds what the configuration's lock file says, if there is one.
func addPins(o *router.Options, c *config.Config) error {
	set, err := store.LoadPins(store.LockPath(c.Beside))
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
	AddEras(o, set)
	return nil
}

// AddEras has the router speak to servers in the era in which they were pinned.
func AddEras(o *router.Options, set store.Pins) {
	o.Eras = map[string]mcpwire.Era{}
	for server, era := range set.Eras() {
		o.Eras[server] = mcpwire.ParseEra(era)
	}
}

// activeGlobs returns the patterns of active_toolsets, each with its place in the file.
func activeGlobs(c *config.Config) (catalog.Globs, error) {
	var globs catalog.Globs
	for _, a := range c.ActiveToolsets {
		one, err := catalog.CompileGlobs([]string{a.Pattern})
		if err != nil {
			return nil, err
		}
		one[0].Server = serverOf(c, a.Toolset)
		one[0].Rule = activeRule(a, one[0].Server, filepath.Base(c.Path))
		globs = append(globs, one...)
	}
	return globs, nil
}

// preloaded returns the names of the toolsets that active_toolsets names.
func preloaded(c *config.Config) (names []string) {
	for _, a := range c.ActiveToolsets {
		if a.Toolset != "" && !slices.Contains(names, a.Toolset) {
			names = append(names, a.Toolset)
		}
	}
	return names
}

// serverOf returns the server that a toolset is the default one of, or "".
func serverOf(c *config.Config, set string) string {
	i := slices.IndexFunc(c.Toolsets, func(s config.Toolset) bool { return s.Name == set })
	if i < 0 {
		return ""
	}
	return c.Toolsets[i].Server
}

// activeRule describes the place of a pattern, which is for items of a server unless that is "".
func activeRule(a config.Active, server, file string) string {
	list := "active_toolsets"
	if a.Task {
		list += " of a task rule"
	}
	if a.Because != "" {
		place := file
		if a.Line > 0 {
			place += fmt.Sprintf(":%d", a.Line)
		}
		return fmt.Sprintf("there is no active_toolsets, and %s (%s) selects the items", a.Because, place)
	}
	if server != "" {
		return fmt.Sprintf("%s has %q (%s:%d), which is every item of server %s", list, "toolset:"+a.Toolset, file, a.Line, server)
	}
	if a.Toolset != "" {
		return fmt.Sprintf("%s has %q (%s:%d), and that has %q", list, "toolset:"+a.Toolset, file, a.Line, a.Pattern)
	}
	return fmt.Sprintf("%s has %q (%s:%d)", list, a.Pattern, file, a.Line)
}

// Mode returns the activation mode of the configuration.
func Mode(c *config.Config) view.Mode {
	for _, m := range []view.Mode{view.ModeMutate, view.ModeCall, view.ModeStatic} {
		if m.String() == c.ActivationMode {
			return m
		}
	}
	return view.ModeAuto
}

// version is the version of a release, which cmd/dist sets at link time.
var version string

// Version returns the version of the release, or else the one that the build recorded.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
