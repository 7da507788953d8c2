package gateway

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"

	"toolman/cmd/internal/setup"
)

// hangUps returns a channel that gets SIGHUP. From then on, SIGHUP does not end the program.
func hangUps() chan os.Signal {
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	return hangUp
}

// watch reloads the configuration whenever a watched file has changed, and on SIGHUP, which also
// stands for a change of the files that it refers to.
func (s *server) watch(ctx context.Context, at setup.Location, files setup.Watch, hangUp chan os.Signal) {
	defer signal.Stop(hangUp)
	changed := make(chan struct{}, 1)
	go files.Run(ctx, func() {
		select {
		case changed <- struct{}{}:
		default: // a reload is due already
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
		case <-changed:
		}
		if err := s.reload(at); err != nil {
			s.Log.Error("the configuration was not reloaded; the previous one stays in effect", zap.String("config", at.Path), zap.NamedError("err", err))
		}
	}
}

// reload applies the configuration as it is now, or changes nothing.
func (s *server) reload(at setup.Location) error {
	if err := at.Check(); err != nil {
		return err
	}
	c, err := s.flags.LoadAt(at)
	if err != nil {
		return err
	}
	s.Secrets.Add(c.Secrets...)
	o, err := s.Configure(c)
	if err != nil {
		return err
	}
	next, err := s.newAccess(c)
	if err != nil {
		return err
	}
	if s.access.Load().guard.Authenticates() && !next.guard.Authenticates() {
		return errors.New("the new file disables authentication; restart toolman to apply it")
	}
	if !c.Cluster.Equal(s.cluster) {
		s.Log.Warn("[cluster] has changed; restart toolman to apply it", zap.String("config", at.Path))
	}
	o.PolicyOf, o.Trace = next.policyOf, s.router.Trace
	s.admit(next) // before Reload: clients that are no longer admitted must not see what is new
	s.router.Reload(o)
	s.noteFree(&o)
	if s.replica != nil {
		s.replica.SetConfig(hashOf(at.Files()))
	}
	s.Log.Info("reloaded", zap.String("config", at.Path), zap.Int("servers", len(o.Servers)))
	return nil
}
