package main

import (
	"maps"
	"slices"
	"time"

	"toolman/cmd/internal/config"
	"toolman/router"
)

// forSession makes the server of one session from what that says of itself; nil for a server
// that is the same for all.
func forSession(s config.Server, file string) func(map[string]string) (router.Server, error) {
	if !s.ForEachSession() {
		return nil
	}
	return func(said map[string]string) (router.Server, error) {
		own, err := s.In(said)
		if err != nil {
			return router.Server{}, err
		}
		return serverOf(own, file), nil
	}
}

// lastTraces is how long after the end of a session's servers something of them may still
// be on its way to the log and the trace.
const lastTraces = time.Minute

// keepSaid has what sessions say of themselves kept out of the log and the trace, as long as a
// server of theirs knows it.
func (a *app) keepSaid(o *router.Options) {
	tracer := o.Trace
	for i := range o.Servers {
		made := o.Servers[i].For
		if made == nil {
			continue
		}
		o.Servers[i].For = func(said map[string]string) (router.Server, error) {
			values := slices.Collect(maps.Values(said))
			fromLog, fromTrace := a.secrets.Lend(values...), tracer.LendSecrets(values...)
			over := func() { time.AfterFunc(lastTraces, func() { fromLog(); fromTrace() }) }
			own, err := made(said)
			if err != nil {
				over()
				return own, err
			}
			own.Over = over
			return own, nil
		}
	}
}
