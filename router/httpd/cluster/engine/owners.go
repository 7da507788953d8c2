package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/valkey-io/valkey-go"
)

// outcome is the result of a script that writes for an owner.
type outcome struct {
	wrote bool
	owner string
	fresh bool
}

// write runs a script that counts what this replica has written.
func (e *Engine) write(ctx context.Context, script *valkey.Lua, keys []string, args ...string) (outcome, error) {
	keys = slices.Insert(keys, 1, e.counter())
	args = append([]string{e.base, e.replica}, args...)
	return run(ctx, e, func(ctx context.Context, c valkey.Client) (o outcome, err error) {
		e.writes.begin()
		defer func() { e.writes.end(o.wrote || mayHaveRun(ctx, err)) }()
		reply, err := script.Exec(ctx, c, keys, args).ToArray()
		if err != nil {
			return o, err
		}
		if len(reply) != 3 {
			return o, errForeign
		}
		if o.wrote, err = reply[0].AsBool(); err != nil {
			return o, err
		}
		if o.owner, err = reply[1].ToString(); err != nil {
			return o, err
		}
		o.fresh, err = reply[2].AsBool()
		return o, err
	})
}

// Claim makes this replica the owner of a unit if the unit has none, or one without a lease, or the
// replica dead, which the caller knows to be dead; the lease of that one is deleted then. Replicas
// that the caller knows to be living keep their units without a lease, too. It returns who owns the
// unit now, and whether the engine knew of no owner.
func (e *Engine) Claim(ctx context.Context, unit, dead string, ttl time.Duration, living ...string) (owner string, fresh bool, err error) {
	k, err := e.joined()
	if err != nil {
		return "", false, err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return "", false, err
	}
	o, err := e.write(ctx, e.scripts.claim, []string{k.name(e.base, "o", unit), e.base + "replicas"},
		append([]string{dead, strconv.FormatInt(ms, 10)}, living...)...)
	if err == nil && !isReplica(o.owner) {
		err = errForeign
	}
	return o.owner, o.fresh, err
}

// Owner returns who owns a unit, alive or not; "" if nobody does. It changes nothing.
func (e *Engine) Owner(ctx context.Context, unit string) (owner string, err error) {
	k, err := e.joined()
	if err != nil {
		return "", err
	}
	owner, err = e.get(ctx, k.name(e.base, "o", unit))
	if err == nil && owner != "" && !isReplica(owner) {
		return "", errForeign
	}
	return owner, err
}

// Yield makes another replica the owner of a unit, if this one is.
func (e *Engine) Yield(ctx context.Context, unit, to string, ttl time.Duration) error {
	k, err := e.joined()
	if err != nil {
		return err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return err
	}
	if !isReplica(to) {
		return fmt.Errorf("engine: %.20q is no replica", to)
	}
	_, err = e.write(ctx, e.scripts.yield, []string{k.name(e.base, "o", unit)}, to, strconv.FormatInt(ms, 10))
	return err
}

// Put stores the record of a session if this replica owns the session's unit, or nobody alive does;
// this replica is the owner then. It returns the owner: if that is another, nothing was stored. Of
// two calls at a time for a key, either may be the last.
func (e *Engine) Put(ctx context.Context, unit, key string, record []byte, ttl time.Duration) (owner string, err error) {
	k, err := e.joined()
	if err != nil {
		return "", err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return "", err
	}
	if len(record) > MaxRecord {
		return "", ErrTooLong
	}
	name := k.name(e.base, "s", key)
	sealed, err := k.seal(name, record)
	if err != nil {
		return "", err
	}
	o, err := e.write(ctx, e.scripts.put, []string{k.name(e.base, "o", unit), name}, sealed, strconv.FormatInt(ms, 10))
	if err == nil && !isReplica(o.owner) {
		err = errForeign
	}
	return o.owner, err
}

// Get returns the record of a session; nil if there is none.
func (e *Engine) Get(ctx context.Context, key string) (record []byte, err error) {
	k, err := e.joined()
	if err != nil {
		return nil, err
	}
	name := k.name(e.base, "s", key)
	sealed, err := e.get(ctx, name)
	if err != nil || sealed == "" {
		return nil, err
	}
	return k.open(name, sealed)
}

// get returns the value of a key; "" if there is none.
func (e *Engine) get(ctx context.Context, name string) (string, error) {
	return run(ctx, e, func(ctx context.Context, c valkey.Client) (string, error) {
		value, err := c.Do(ctx, c.B().Get().Key(name).Build()).ToString()
		if valkey.IsValkeyNil(err) {
			return "", nil
		}
		return value, err
	})
}

// Renew gives owners of units and records of sessions a new TTL. It reports missing if something
// was gone.
func (e *Engine) Renew(ctx context.Context, units, keys []string, ttl time.Duration) (missing bool, err error) {
	k, err := e.joined()
	if err != nil {
		return false, err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return false, err
	}
	names := make([]string, 0, len(units)+len(keys))
	for _, unit := range units {
		names = append(names, k.name(e.base, "o", unit))
	}
	for _, key := range keys {
		names = append(names, k.name(e.base, "s", key))
	}
	for some := range slices.Chunk(names, 500) { // in one pipeline each, which other calls wait for
		gone, err := run(ctx, e, func(ctx context.Context, c valkey.Client) (gone bool, err error) {
			commands := make([]valkey.Completed, len(some))
			for i, name := range some {
				commands[i] = c.B().Pexpire().Key(name).Milliseconds(ms).Build()
			}
			for _, reply := range c.DoMulti(ctx, commands...) {
				there, err := reply.AsBool()
				if err != nil {
					return false, err
				}
				gone = gone || !there
			}
			return gone, nil
		})
		if err != nil {
			return missing, err
		}
		missing = missing || gone
	}
	return missing, nil
}

// Release makes nobody the owner of a unit, if this replica is. Records stay.
func (e *Engine) Release(ctx context.Context, unit string) error {
	k, err := e.joined()
	if err != nil {
		return err
	}
	_, err = e.write(ctx, e.scripts.release, []string{k.name(e.base, "o", unit)})
	return err
}

// Forget deletes the record of a session, and with last the owner of its unit, too. It does nothing
// if another replica owns the unit.
func (e *Engine) Forget(ctx context.Context, unit, key string, last bool) error {
	k, err := e.joined()
	if err != nil {
		return err
	}
	all := "0"
	if last {
		all = "1"
	}
	_, err = e.write(ctx, e.scripts.forget, []string{k.name(e.base, "o", unit), k.name(e.base, "s", key)}, all)
	return err
}
