package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/valkey-io/valkey-go"
)

// A Lease is what a live replica says of itself.
type Lease struct {
	Address  string `json:"address"`  // where other replicas reach it
	Version  string `json:"version"`  // of the program
	Protocol int    `json:"protocol"` // of records, and between replicas
	Config   string `json:"config"`   // hash of the configuration
	Draining bool   `json:"draining,omitempty"`
}

// A Member is a live replica.
type Member struct {
	ID string
	Lease
}

// writes counts what this replica has written.
type writes struct {
	mu       sync.Mutex
	expected int64 // at least these many scripts, if the engine lost nothing
	open     int   // scripts that have no answer yet
	ended    int64 // scripts that had an answer
	beaten   bool  // this replica has had a lease
}

func (w *writes) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
}

// end counts a script that has written, or may have. If it had not, Beat reports a loss where there
// is none.
func (w *writes) end(wrote bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open--
	w.ended++
	if wrote {
		w.expected++
	}
}

// Beat renews the lease. It returns all live replicas, this one last. It reports lost if what the
// engine has for this replica may not be what this replica wrote: since the last Beat the engine
// lost writes, or the lease ended, so that others may have become owners of its units. The replica
// has to write it all again then. All that is one script.
func (e *Engine) Beat(ctx context.Context, lease Lease) (members []Member, lost bool, err error) {
	k, err := e.joined()
	if err != nil {
		return nil, false, err
	}
	text, err := json.Marshal(lease)
	if err != nil {
		return nil, false, err
	}
	if len(text) > maxLease {
		return nil, false, fmt.Errorf("engine: the lease has %d bytes, more than %d", len(text), maxLease)
	}
	own := e.base + "r:" + e.replica
	sealed, err := k.seal(own, text)
	if err != nil {
		return nil, false, err
	}
	ttl := strconv.FormatInt(e.lease.Milliseconds(), 10)
	type result struct {
		members []Member
		lost    bool
	}
	r, err := run(ctx, e, func(ctx context.Context, c valkey.Client) (r result, err error) {
		e.writes.mu.Lock()
		expected, ended, open, first := e.writes.expected, e.writes.ended, e.writes.open, "1"
		if e.writes.beaten {
			first = "0"
		}
		e.writes.mu.Unlock()
		reply, err := e.scripts.beat.Exec(ctx, c, []string{own, e.counter(), e.base + "replicas", e.base + "k"},
			[]string{e.base, e.replica, sealed, ttl, strconv.FormatInt(expected, 10), k.sealed, strconv.Itoa(MaxReplicas), first}).ToArray()
		if err != nil {
			return r, err
		}
		if len(reply) == 1 {
			return r, fmt.Errorf("the cluster has %d replicas already", MaxReplicas)
		}
		if len(reply) < 3 {
			return r, errForeign
		}
		state, _ := reply[0].AsInt64()
		count, _ := reply[1].AsInt64()
		r.lost = state == 1
		e.writes.mu.Lock()
		e.writes.beaten = true
		if open == 0 && e.writes.open == 0 && e.writes.ended == ended {
			e.writes.expected = max(e.writes.expected, count)
		}
		e.writes.mu.Unlock()
		there, err := reply[2].ToString()
		if err == nil {
			err = e.compare(ctx, c, k, there)
		}
		r.members = append(k.members(e.base, reply[3:]), Member{e.replica, lease})
		return r, err
	})
	return r.members, r.lost, err
}

// members reads IDs and leases. What was not written by replicas of this cluster is no replica.
func (k *keys) members(base string, reply []valkey.ValkeyMessage) (all []Member) {
	for pair := range slices.Chunk(reply, 2) {
		if len(pair) < 2 {
			return all
		}
		id, err := pair[0].ToString()
		if err != nil || !isReplica(id) {
			continue
		}
		sealed, err := pair[1].ToString()
		if err != nil {
			continue
		}
		text, err := k.open(base+"r:"+id, sealed)
		if err != nil {
			continue
		}
		m := Member{ID: id}
		if json.Unmarshal(text, &m.Lease) == nil {
			all = append(all, m)
		}
	}
	return all
}

// Leave ends the lease. Units that this replica still owns can be claimed by others at once.
func (e *Engine) Leave(ctx context.Context) error {
	if _, err := e.joined(); err != nil {
		return err
	}
	return e.call(ctx, func(ctx context.Context, c valkey.Client) error {
		err := e.scripts.leave.Exec(ctx, c, []string{e.base + "r:" + e.replica, e.counter(), e.base + "replicas"}, []string{e.base, e.replica}).Error()
		if err == nil {
			e.writes.mu.Lock()
			e.writes.expected, e.writes.beaten = 0, false
			e.writes.mu.Unlock()
		}
		return err
	})
}

// counter is the key of what counts the writes of this replica.
func (e *Engine) counter() string { return e.base + "w:" + e.replica }

// Policy returns what the engine does when its memory is full (maxmemory-policy); "" if the user
// may not know.
func (e *Engine) Policy(ctx context.Context) (maxmemoryPolicy string, err error) {
	return run(ctx, e, func(ctx context.Context, c valkey.Client) (string, error) {
		config, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory-policy").Build()).AsStrMap()
		if reply, ok := valkey.IsValkeyErr(err); ok && (strings.HasPrefix(reply.Error(), "NOPERM") || strings.Contains(reply.Error(), "unknown command")) {
			return "", nil
		}
		return config["maxmemory-policy"], err
	})
}
