package engine

import (
	"go.uber.org/zap"

	"toolman/cmd/internal/debugsock"
)

// openDebug opens the socket of --debug, if it is given.
func (e *Engine) openDebug(f *Flags) (close func(), err error) {
	if !f.Debug {
		return func() {}, nil
	}
	e.RouterOptions.Debug, e.socket, close, err = debugsock.Open(e.RouterOptions.Run)
	if err == nil {
		e.Log.Info("debugging: toolman trace open shows the page that stops messages", zap.String("socket", e.socket))
	}
	return close, err
}
