package main

import (
	"sync"

	"go.uber.org/zap"

	"toolman/spawn"
)

// startGuard starts the guard of the servers while its caller goes on; a.guard waits for
// that, and returns nil where there can be none. Call done once the servers have ended.
func (a *app) startGuard(log *zap.Logger) (done func()) {
	a.guard = sync.OnceValue(func() *spawn.Guard {
		g, err := spawn.StartGuard()
		if err != nil {
			log.Warn("no guard: servers may outlive a toolman that is killed", zap.NamedError("err", err))
		}
		return g
	})
	go a.guard()
	return func() { a.guard().Close() }
}
