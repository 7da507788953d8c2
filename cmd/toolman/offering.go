package main

import (
	"context"
	"fmt"
	"time"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/pins"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
)

// offering is what the servers offer.
type offering struct {
	pins     pins.Set
	unpinned []pins.Key
	odd      []string // what cannot be pinned, and why
	missing  []string // servers that are not ready, or have a list that could not be read
	problems []string // why
}

// offered starts the servers and gathers what they offer.
func (a *app) offered(ctx context.Context, c *config.Config, old pins.Set) (*offering, error) {
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	addEras(&o, old)
	a.progress = newProgress(a.stderr, c.Secrets, false)
	log, logged, err := a.openLog(c.Secrets)
	if err != nil {
		return nil, err
	}
	defer logged()
	r, err := a.startAll(ctx, o, log, (*router.Router).GreetAble)
	if err != nil {
		return nil, err
	}
	awaitQuiet(ctx, r.Router)
	found := &offering{pins: pins.Set{}}
	found.addServers(c, r.Router)
	found.addItems(r.Catalog(), o.Unpinned)
	found.odd = append(found.odd, unknownMembers(r.Catalog(), o.Unpinned)...)
	r.Close()
	return found, ctx.Err()
}

// Some servers offer more once they know what the client can do, a moment after they
// are ready.
const (
	quiet     = 150 * time.Millisecond // without a change
	mostQuiet = 5 * time.Second        // for servers whose lists change all the time
)

// awaitQuiet waits until lists have stopped changing.
func awaitQuiet(ctx context.Context, r *router.Router) {
	ctx, cancel := context.WithTimeout(ctx, mostQuiet)
	defer cancel()
	tick := time.NewTicker(quiet / 10)
	defer tick.Stop()
	for since := time.Now(); time.Since(since) < quiet; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r.Refreshing() {
			since = time.Now()
		}
	}
}

func (f *offering) addServers(c *config.Config, r *router.Router) {
	rep := &report{Config: c.Path}
	servers := enabledServers(c)
	for i, st := range scrubbed(r, c.Secrets) {
		if st.State != router.Apart && st.State != router.Ready || st.Unread != [mcpwire.Kinds]string{} {
			f.missing = append(f.missing, st.Name)
		}
		rep.addServer(st, servers[i])
	}
	f.problems = rep.Problems
}

// addItems pins every item that clients can be offered, but for those that need no pin.
func (f *offering) addItems(offered *catalog.Catalog, unpinned catalog.Globs) {
	for _, e := range offered.All() {
		k := pins.Key{Kind: e.Item.Kind, Name: e.Name}
		if unpinned.Match(e) {
			f.unpinned = append(f.unpinned, k)
			continue
		}
		def, err := e.Item.Definition()
		if err != nil {
			f.odd = append(f.odd, fmt.Sprintf("%s of server %s cannot be pinned and is held back: %s", sanitize.Visible(k.String()), e.Source.Name, sanitize.Visible(err.Error())))
			continue
		}
		f.pins[k] = pins.New(e.Source.Name, e.Source.Era().String(), def)
	}
}
