package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"
)

// The bounds of what is kept in the engine, and of the time that it may take.
const (
	MaxRecord   = 1 << 20 // bytes of a session's record
	MaxDocument = 1 << 20 // bytes of a document
	MaxReplicas = 256     // with a lease at a time
	maxLease    = 4 << 10 // bytes of a lease
	longestCall = 2 * time.Second
	mostCalls   = 64 // at a time; others wait. Less than the client library's queue holds
)

var (
	// ErrNotJoined is the error of calls before Join.
	ErrNotJoined = errors.New("engine: this replica has not joined the cluster")
	// ErrRejoin is an error of Beat: the cluster has an older key than this replica. Join gets it.
	ErrRejoin = errors.New("engine: the cluster has another key; join again")
	// ErrSecrets is the error of Join for a replica with other secrets than those of its cluster.
	ErrSecrets = errors.New("engine: the replicas of this name have other secrets; give all of them the same [cluster] secrets, or another [cluster] name")
	// ErrTooLong is the error of Put for a record that would be longer than MaxRecord.
	ErrTooLong = errors.New("engine: the record of the session is too long")
	// ErrClosed is the error of calls after Close.
	ErrClosed = errors.New("engine: closed")
)

// Options configure an Engine.
type Options struct {
	URL       string        // valkey://, valkeys://, redis:// or rediss://; ?addr= for a cluster, ?master_set= for Sentinel
	CA        string        // PEM file of certificates to trust besides the system's; "" for none
	Plaintext bool          // allow a URL without TLS beyond loopback
	Name      string        // of the cluster
	Secrets   [][]byte      // of 32 bytes or more; the first seals, all open
	Replica   string        // ID of this replica: 8 lowercase letters and digits
	Lease     time.Duration // after which a replica without a Beat is dead; 0 means 3 s
}

// An Engine is the connection of a replica to what the cluster shares. It is safe for use by many
// goroutines.
type Engine struct {
	option  valkey.ClientOption
	replica string
	base    string // that all keys begin with
	lease   time.Duration
	longest time.Duration // of a call
	secrets [][]byte      // the keys that seal the cluster's key, derived from the secrets
	scripts scripts
	writes  writes
	calls   chan struct{} // has an element for each call
	clean   cleaner
	keys    atomic.Pointer[keys] // nil before Join
	life    context.Context
	end     context.CancelFunc

	mu         sync.Mutex
	client     valkey.Client // nil before it has connected, and after a failover
	connecting chan struct{} // closed when connecting has ended; nil if nobody connects
	failure    error         // of connecting
}

// Open checks the options. It does not connect.
func Open(o Options) (*Engine, error) {
	option, password, err := parse(o)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		option: option, replica: o.Replica, base: "{toolman:" + o.Name + "}:", lease: o.Lease, longest: longestCall,
		scripts: newScripts(), calls: make(chan struct{}, mostCalls), clean: newCleaner(password),
	}
	switch {
	case !isName(o.Name):
		return nil, errors.New("[cluster] name: use 1 to 64 letters, digits, dots, hyphens and underscores")
	case !isReplica(o.Replica):
		return nil, errors.New("a replica's ID is 8 lowercase letters and digits")
	case len(o.Secrets) == 0:
		return nil, errors.New("[cluster] secrets: there are none; add one, such as the output of: openssl rand -base64 32")
	case e.lease == 0:
		e.lease = 3 * time.Second
	case e.lease < 10*time.Millisecond:
		return nil, errors.New("a lease is at least 10 ms")
	}
	for i, secret := range o.Secrets {
		if len(secret) < 32 {
			return nil, fmt.Errorf("[cluster] secrets: number %d has %d bytes; it needs 32 or more, such as the output of: openssl rand -base64 32", i+1, len(secret))
		}
		key, err := derive(secret, "toolman cluster "+o.Name+" key")
		if err != nil {
			return nil, err
		}
		e.secrets = append(e.secrets, key)
	}
	e.life, e.end = context.WithCancel(context.Background())
	return e, nil
}

// Close ends the connection. Calls that are under way fail.
func (e *Engine) Close() {
	e.end()
	e.mu.Lock()
	client := e.client
	e.client = nil
	e.mu.Unlock()
	if client != nil {
		client.Close()
	}
}

// connect returns the client of the library, which it makes if there is none.
func (e *Engine) connect(ctx context.Context) (valkey.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client == nil && e.connecting == nil && e.life.Err() == nil {
		e.connecting = make(chan struct{})
		go e.dial(e.connecting)
	}
	if done := e.connecting; done != nil {
		e.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
		}
		e.mu.Lock()
	}
	switch {
	case e.life.Err() != nil:
		return nil, ErrClosed
	case e.client != nil:
		return e.client, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, e.failure
}

// dial makes the client. With a single address the library returns one that connects later, too.
func (e *Engine) dial(done chan struct{}) {
	client, err := valkey.NewClient(e.option)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.life.Err() != nil && client != nil {
		go client.Close()
		client = nil
	}
	e.client, e.failure, e.connecting = client, err, nil
	close(done)
}

// drop forgets a client whose connection is to a replica of the engine, since a failover: the next
// call finds the primary under the same name.
func (e *Engine) drop(client valkey.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client == client {
		e.client = nil
		go client.Close() // waits for the calls of others
	}
}

// run calls f, which talks to the engine, and returns what f does.
func run[T any](ctx context.Context, e *Engine, f func(context.Context, valkey.Client) (T, error)) (value T, err error) {
	result := new(T)
	err = e.call(ctx, func(ctx context.Context, client valkey.Client) (err error) {
		*result, err = f(ctx, client)
		return err
	})
	if err != nil {
		return value, err // f may not have ended
	}
	return *result, nil
}

// call calls f, and does not wait for it longer than ctx allows. The library alone would: while it
// connects, and when its queue is full. When ctx has ended, f sends nothing more: it could overtake
// what the caller does next.
func (e *Engine) call(ctx context.Context, f func(context.Context, valkey.Client) error) error {
	if e.life.Err() != nil {
		return ErrClosed
	}
	select {
	case e.calls <- struct{}{}:
	case <-ctx.Done():
		return e.clean.error(ctx.Err())
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-e.calls }()
		long, cancel := context.WithTimeout(e.life, e.longest)
		defer cancel()
		ctx := unhurried{long, ctx}
		client, err := e.connect(ctx)
		if err == nil {
			err = f(ctx, client)
		}
		if isReadOnly(err) {
			e.drop(client)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil && e.life.Err() != nil {
			return ErrClosed
		}
		return e.clean.error(err)
	case <-ctx.Done():
		return e.clean.error(ctx.Err())
	}
}

// An unhurried context lets the library wait for the answer of a command after the caller has gone,
// to know whether it was carried out. The library asks for the error before it sends a command.
type unhurried struct {
	context.Context
	caller context.Context
}

func (u unhurried) Err() error { return cmp.Or(u.Context.Err(), u.caller.Err()) }

// milliseconds is a TTL as commands have it.
func milliseconds(d time.Duration) (int64, error) {
	if d < time.Millisecond {
		return 0, fmt.Errorf("engine: %v is no time to live", d)
	}
	return d.Milliseconds(), nil
}

// isReplica reports whether a text may be the ID of a replica.
func isReplica(id string) bool {
	return len(id) == 8 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// isName reports whether a text may be the name of a cluster: it means itself in the patterns of
// ACLs, and does not end the part of keys in braces.
func isName(name string) bool {
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
	}
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, other)
}
