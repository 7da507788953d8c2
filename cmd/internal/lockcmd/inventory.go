package lockcmd

import (
	"context"
	"fmt"
	"os"
	"time"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/report"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/store"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
)

// An inventory is what the servers offer.
type inventory struct {
	pins     store.Pins
	unpinned []store.ItemKey
	warnings []string // what cannot be pinned, and why
	unknown  []string // servers that are not ready, or have a list that could not be read
	problems []string // why they are unknown
}

// takeInventory starts the servers and collects what they offer. It speaks to them in the era of
// their pins in old.
func takeInventory(ctx context.Context, c *config.Config, old store.Pins, logLevel string, stderr *os.File) (*inventory, error) {
	o, err := setup.Options(c, redact.NewScrubber(c.Secrets))
	if err != nil {
		return nil, err
	}
	setup.AddEras(&o, old)
	p := engine.NewProgress(stderr, c.Secrets, false)
	log, _, closeLog, err := engine.OpenLog(logLevel, p, c.Secrets)
	if err != nil {
		return nil, err
	}
	defer closeLog()
	r, err := engine.Start(ctx, o, log, p, (*router.Router).HandshakeFull)
	if err != nil {
		return nil, err
	}
	awaitQuiet(ctx, r.Router)
	found := &inventory{pins: store.Pins{}}
	found.unknown, found.problems = report.ServerProblems(c, r.Router)
	found.addItems(r.Catalog(), o.Unpinned)
	found.warnings = append(found.warnings, report.UnknownMembers(r.Catalog(), o.Unpinned)...)
	r.Close()
	return found, ctx.Err()
}

// Some servers offer more items a moment after they are ready, once they know what the client
// supports.
const (
	quiet     = 150 * time.Millisecond // how long lists must not have changed
	mostQuiet = 5 * time.Second        // for servers whose lists keep changing
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

// addItems pins every item that clients can be offered, except those that need no pin.
func (f *inventory) addItems(offered *catalog.Catalog, unpinned catalog.Globs) {
	for _, e := range offered.All() {
		k := store.ItemKey{Kind: e.Item.Kind, Name: e.PinName()}
		if unpinned.Match(e) {
			f.unpinned = append(f.unpinned, k)
			continue
		}
		def, err := e.Item.Definition()
		if err != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("%s of server %s cannot be pinned and is held back: %s", sanitize.Visible(k.String()), e.Source.Name, sanitize.Visible(err.Error())))
			continue
		}
		f.pins[k] = store.NewPin(e.Source.Name, e.Source.Era().String(), def)
	}
}
