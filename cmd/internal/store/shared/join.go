package shared

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"toolman/cmd/internal/config/cluster"
	"toolman/cmd/internal/store"
	"toolman/router/httpd/cluster/engine"
)

// joinTime is how long Join waits for the engine.
const joinTime = 3 * time.Second

// Join returns the Shelf of a cluster for a command that is no replica of it. The Shelf can also be
// used with an error: the engine did not answer. Call leave at the end.
func Join(ctx context.Context, c *cluster.Settings, file store.Toolsets, warn func(error)) (s *Shelf, leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	e, err := engine.Open(engine.Options{URL: c.Engine, CA: c.EngineCA, Plaintext: c.EnginePlaintext, Name: c.Name, Secrets: c.Secrets,
		Replica: strings.ToLower(rand.Text()[:8])})
	if err != nil {
		return New(closed{err}, file, warn), func() {}, err
	}
	_, err = e.Join(ctx)
	return New(e, file, warn), e.Close, err
}

// closed are Documents that cannot be used.
type closed struct{ error }

// Document implements Documents.
func (c closed) Document(context.Context, string) ([]byte, int64, error) { return nil, 0, c.error }

// SetDocument implements Documents.
func (c closed) SetDocument(context.Context, string, []byte, int64) (bool, error) {
	return false, c.error
}
