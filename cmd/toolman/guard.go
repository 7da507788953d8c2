package main

import (
	"sync"

	"go.uber.org/zap"

	"toolman/spawn"
)

// newGuard starts a guard while its caller goes on; what it returns waits for that, and
// returns nil where there can be none.
func newGuard(log *zap.Logger) (guard func() *spawn.Guard) {
	guard = sync.OnceValue(func() *spawn.Guard {
		g, err := spawn.StartGuard()
		if err != nil {
			log.Warn("no guard: servers may outlive a toolman that is killed", zap.NamedError("err", err))
		}
		return g
	})
	go guard()
	return guard
}
