package engine

import (
	"context"
	"os"

	"toolman/jsonrpc/trace/redact"
	"toolman/router/upstream"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/jsonrpc/peer"
	"toolman/router"
	"toolman/spawn"
)

// Servers are the configured servers, running, without a client.
type Servers struct {
	*router.Router
	loop   *peer.Loop
	reaper *spawn.Reaper
}

// Check starts every server with policies and pins, for a client without capabilities. It shows on
// stderr how they start.
func Check(ctx context.Context, c *config.Config, stderr *os.File) (*Servers, error) {
	o, err := setup.FullOptions(c, redact.NewScrubber(c.Secrets), func(error) {}) // check reports it
	if err != nil {
		return nil, err
	}
	return Start(ctx, o, zap.NewNop(), NewProgress(stderr, c.Secrets, false), (*router.Router).HandshakeMinimal)
}

// Start starts every server and waits until each is ready or gone. greet tells them about the
// client.
func Start(ctx context.Context, o router.Options, log *zap.Logger, p *Progress, greet func(*router.Router)) (*Servers, error) {
	loop, err := peer.NewLoop()
	if err != nil {
		return nil, err
	}
	reaper, _ := spawn.StartReaper() // Close ends the servers; the reaper is for a toolman that is killed
	o.Signalled = ctx
	s := &Servers{router.New(o, loop, log), loop, reaper}
	s.Await("")
	s.Start(reaper)
	greet(s.Router)
	if err := p.Follow(ctx, s.Router); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the servers.
func (s *Servers) Close() {
	s.Router.Close()
	s.reaper.Close()
	s.loop.Close()
}

// NotReady returns the names of servers whose items are not known.
func (s *Servers) NotReady() []string {
	var names []string
	for _, st := range s.Upstreams() {
		if st.State != upstream.Ready {
			names = append(names, st.Name)
		}
	}
	return names
}

// Statuses returns the status of every server, without secrets.
func Statuses(r *router.Router, secrets []string) []upstream.Status {
	scrub := redact.NewScrubber(secrets)
	all := r.Upstreams()
	for i := range all {
		all[i].Problem, all[i].Stderr = scrub.Text(all[i].Problem), scrub.Text(all[i].Stderr)
		for k, why := range all[i].Unread {
			all[i].Unread[k] = scrub.Text(why)
		}
	}
	return all
}
