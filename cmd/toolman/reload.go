package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/pins"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/modes"
)

// fingerprint is equal for servers that are configured alike, wherever they stand, and whatever
// others refer to.
func fingerprint(s config.Server) string {
	s.Line, s.MaxCallsLine, s.Referred = 0, 0, nil
	text := ""
	if r := s.Remote; r != nil { // what pointers point to counts, and not where
		remote, oauth := *r, config.OAuth{}
		if r.OAuth != nil {
			oauth = *r.OAuth
		}
		s.Remote, remote.OAuth = nil, nil
		text = fmt.Sprintf("%+v %t %+v", remote, r.OAuth != nil, oauth)
	}
	all := fmt.Appendf(nil, "%#v %s", s, text) // %+v prints nil and an empty list alike
	return fmt.Sprintf("%x", sha256.Sum256(all))
}

// watches are on what reloads waits for: the file and its lock file.
func watches(at config.Location) []*config.Watch {
	return []*config.Watch{config.NewWatch(at.Path), config.NewWatch(pins.Path(at.Path))}
}

// reloads has the front go on with the file as it is then: whenever a watched file has
// changed, and on SIGHUP, which stands for what it refers to as well.
func (a *app) reloads(ctx context.Context, f *front, at config.Location, files []*config.Watch, log *zap.Logger) {
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	changed := make(chan struct{}, 1)
	for _, file := range files {
		go file.Run(ctx, func() {
			select {
			case changed <- struct{}{}:
			default: // it is about to be read anyway
			}
		})
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
		case <-changed:
		}
		if err := a.reload(f, at, log); err != nil {
			log.Error("the configuration was not reloaded; toolman goes on as it is", zap.String("config", at.Path), zap.NamedError("err", err))
		}
	}
}

// reload has the front go on with the file as it is now, or leaves all as it is.
func (a *app) reload(f *front, at config.Location, log *zap.Logger) error {
	if err := at.Check(); err != nil {
		return err
	}
	c, err := config.Load(at.Path, a.httpOptions())
	if err != nil {
		return err
	}
	a.secrets.Add(c.Secrets...)
	f.router.Trace.AddSecrets(c.Secrets...)
	o, err := routerOptions(c, log)
	if err != nil {
		return err
	}
	next, err := a.newRights(c, f.budgets, log)
	if err != nil {
		return err
	}
	if f.rights.Load().guard.Authenticates() && !next.guard.Authenticates() {
		return fmt.Errorf("it asks for no credential any more; that takes a new start")
	}
	o.PolicyOf, o.Trace = next.agents.policy, f.router.Trace
	a.keepSaid(&o)
	f.admit(next) // first: who may not come in any more does not see what is new
	f.router.Reload(o)
	log.Info("reloaded", zap.String("config", at.Path), zap.Int("servers", len(o.Servers)))
	return nil
}

// rights say who may come in, and what for.
type rights struct {
	guard  *guard.Guard
	agents agents
	modes  *modes.Modes
	logs   callLogs
	names  namesOf
	routes http.Handler // set when the front takes them
}

func (a *app) newRights(c *config.Config, budgets *budget.Budgets, log *zap.Logger) (*rights, error) {
	all, err := agentsOf(c)
	if err != nil {
		return nil, err
	}
	g, err := guard.New(guardOptions(c, budgets, log))
	if err != nil {
		return nil, err
	}
	return &rights{guard: g, agents: all, modes: modes.New(a.modeOptions(c, g, log)), logs: callLogsOf(c, g.Authenticates()),
		names: namesOf{open: !g.Authenticates(), all: c.Rules == nil && c.HTTP.Permissions == nil, readers: c.HTTP.MetricsReaders}}, nil
}

// routerOptions turns the configuration, and what is kept beside it, into what the router
// needs.
func routerOptions(c *config.Config, log *zap.Logger) (router.Options, error) {
	o, err := options(c)
	if err != nil {
		return o, err
	}
	if err := addPins(&o, c); err != nil {
		return o, err
	}
	if err := equip(&o, c); err != nil {
		log.Warn("no toolset is equipped at start", zap.NamedError("err", err))
	}
	return o, nil
}
