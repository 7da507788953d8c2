package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/valkey-io/valkey-go"

	"toolman/mcpwire/sanitize"
)

// A cleaner makes errors of the library fit for logs. Engines and what is between quote commands
// that they do not understand, such as the one with the password.
type cleaner struct{ hide *strings.Replacer }

func newCleaner(password string) cleaner {
	if password == "" {
		return cleaner{strings.NewReplacer()}
	}
	return cleaner{strings.NewReplacer(password, "***", url.QueryEscape(password), "***", url.PathEscape(password), "***")}
}

// advice says what to do about errors that contain a text.
var advice = []struct{ text, todo string }{
	{"NOPERM", "give its user the rights that toolman needs"},
	{"WRONGPASS", "check user and password in [cluster] engine"},
	{"NOAUTH", "add user and password to [cluster] engine"},
	{"invalid password", "check user and password in [cluster] engine"},
	{"MOVED", "it is a node of a Valkey Cluster: name its nodes with ?addr=HOST:PORT in [cluster] engine"},
	{"cluster support disabled", "several ?addr= are for a Valkey Cluster; for Sentinel, add master_set=NAME"},
	{"READONLY", "it is a replica of the engine; the next call connects again"},
	{"OOM", "give it more memory; maxmemory-policy must not be allkeys-*"},
	{"certificate", "name the certificates to trust in [cluster] engine_ca"},
	{"does not look like a TLS handshake", "it is without TLS; check scheme and port in [cluster] engine"},
}

// error returns an error that says what has failed, and nothing that is secret. Only the errors of
// contexts and of this package can be found in it.
func (c cleaner) error(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errForeign), errors.Is(err, ErrRejoin), errors.Is(err, ErrSecrets), errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("engine: %w", context.Canceled)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("engine: no answer in time: %w", context.DeadlineExceeded)
	case errors.Is(err, valkey.ErrClosing), errors.Is(err, io.EOF):
		return errors.New("engine: it has closed the connection")
	}
	text, _, _ := strings.Cut(err.Error(), ", with args beginning with")
	text = "engine: " + sanitize.Cut(c.hide.Replace(text), 300)
	for _, a := range advice {
		if strings.Contains(text, a.text) {
			text += "; " + a.todo
			break
		}
	}
	return errors.New(text)
}

// isReadOnly reports whether the engine is a replica that takes no writes.
func isReadOnly(err error) bool {
	reply, ok := valkey.IsValkeyErr(err)
	return ok && strings.Contains(reply.Error(), "READONLY")
}

// mayHaveRun reports whether the engine may have carried out a command that has failed: not if it
// has said so, nobody has listened, or the caller had gone before.
func mayHaveRun(ctx context.Context, err error) bool {
	if _, ok := valkey.IsValkeyErr(err); ok || err == nil {
		return false
	}
	if u, ok := ctx.(unhurried); ok && u.Context.Err() == nil && err == u.caller.Err() {
		return false
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "dial"
}

// errForeign says that a value is not one that a replica of this cluster has written.
var errForeign = errors.New("engine: a value in the engine was not written by this cluster")
