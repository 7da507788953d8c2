package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-io/valkey-go"
)

// Document returns a document: a text that all replicas share, and its version. It returns nil and
// 0 if there is none.
func (e *Engine) Document(ctx context.Context, name string) (text []byte, version int64, err error) {
	k, err := e.joined()
	if err != nil {
		return nil, 0, err
	}
	key := k.name(e.base, "t", name)
	value, err := e.get(ctx, key)
	if err != nil || value == "" {
		return nil, 0, err
	}
	number, sealed, _ := strings.Cut(value, ":")
	if version, err = strconv.ParseInt(number, 10, 64); err != nil {
		return nil, 0, errForeign
	}
	if text, err = k.open(key+":"+number, sealed); err != nil {
		return nil, 0, err
	}
	return text, version, nil
}

// SetDocument replaces the version of a document that the caller knows; 0 for none. It reports
// whether that was the version. The new one is version+1.
func (e *Engine) SetDocument(ctx context.Context, name string, text []byte, version int64) (ok bool, err error) {
	k, err := e.joined()
	if err != nil {
		return false, err
	}
	if len(text) > MaxDocument {
		return false, fmt.Errorf("engine: the document has %d bytes, more than %d", len(text), MaxDocument)
	}
	key, next := k.name(e.base, "t", name), strconv.FormatInt(version+1, 10)
	sealed, err := k.seal(key+":"+next, text)
	if err != nil {
		return false, err
	}
	o, err := e.write(ctx, e.scripts.document, []string{key}, strconv.FormatInt(version, 10), next+":"+sealed)
	return o.wrote, err
}

// Take takes up to n tokens of a bucket that fills with rate tokens a second up to burst, by the
// engine's clock. An engine that loses writes gives some tokens twice.
func (e *Engine) Take(ctx context.Context, bucket string, n int, rate float64, burst int) (granted int, err error) {
	k, err := e.joined()
	if err != nil {
		return 0, err
	}
	if n < 1 || burst < 1 || !(rate > 0 && rate < 1e9) {
		return 0, fmt.Errorf("engine: %d tokens of a bucket of %d with %v a second make no sense", n, burst, rate)
	}
	args := []string{e.base, e.replica, strconv.Itoa(n), strconv.FormatFloat(rate, 'g', -1, 64), strconv.Itoa(burst)}
	return run(ctx, e, func(ctx context.Context, c valkey.Client) (int, error) {
		granted, err := e.scripts.take.Exec(ctx, c, []string{k.name(e.base, "m", bucket)}, args).AsInt64()
		return int(granted), err
	})
}
