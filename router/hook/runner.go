package hook

import (
	"encoding/json"
	"sync"
	"time"

	"go.uber.org/zap"

	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/spawn"
)

// Limits.
const (
	mostTime = 30 * time.Second // for a command
	atClose  = time.Second      // for the command that runs when the Runner is closed
	maxQueue = 100              // events that wait
)

// A Command is a command of the operator. A nil *Command is none.
type Command struct {
	Name string // the key of tools.toml, for the log
	spawn.Command
}

// A Runner runs commands. Its methods may be called from any goroutine and do not wait, except for
// Close. A nil *Runner does nothing.
type Runner struct {
	log    *zap.Logger
	reaper func() *spawn.Reaper // may wait; nil: there is none
	limit  time.Duration        // mostTime, or less in tests

	closing chan struct{}
	ended   sync.WaitGroup // for the goroutine that runs commands, if there is one

	mu      sync.Mutex
	queue   []job
	look    *look // the latest catalog, if it is not checked yet
	dropped int
	working bool
	closed  bool

	drift // of the goroutine that runs commands
}

// A job is a command to run with an event.
type job struct {
	command *Command
	event   any
}

// A look is a catalog to compare saved toolsets with.
type look struct {
	command  *Command
	shelf    toolset.Shelf
	catalog  *catalog.Catalog
	complete bool
}

// NewRunner returns a Runner. reaper ends what a command leaves behind; it may be nil.
func NewRunner(log *zap.Logger, reaper func() *spawn.Reaper) *Runner {
	return &Runner{log: log, reaper: reaper, limit: mostTime, closing: make(chan struct{})}
}

// Equipped runs c because a toolset was equipped.
func (r *Runner) Equipped(c *Command, e Equipped) {
	if r == nil || c == nil {
		return
	}
	e.Event, e.Time = "equip", time.Now().UTC().Truncate(time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putLocked(job{c, e})
}

// Catalog runs c for each saved toolset of the shelf of which tools have drifted, as the catalog
// shows, once for each drift. complete says that no server is missing from the catalog. Until then
// a tool that is gone may still come.
func (r *Runner) Catalog(c *Command, shelf toolset.Shelf, now *catalog.Catalog, complete bool) {
	if r == nil || c == nil || shelf == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look = &look{c, shelf, now, complete}
	r.workLocked()
}

// Close ends the command that runs, and drops the events that wait.
func (r *Runner) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	r.mu.Unlock()
	r.ended.Wait()
}

func (r *Runner) putLocked(j job) {
	if len(r.queue) == maxQueue {
		r.dropped++
		return
	}
	r.queue = append(r.queue, j)
	r.workLocked()
}

// workLocked starts the goroutine that runs commands, unless there is one.
func (r *Runner) workLocked() {
	if !r.working && !r.closed {
		r.working = true
		r.ended.Go(r.work)
	}
}

func (r *Runner) work() {
	for {
		r.mu.Lock()
		if r.dropped > 0 {
			r.log.Warn("commands for toolsets were not run: too many events waited", zap.Int("count", r.dropped))
			r.dropped = 0
		}
		if r.closed || r.look == nil && len(r.queue) == 0 {
			r.working = false
			r.mu.Unlock()
			return
		}
		if l := r.look; l != nil {
			r.look = nil
			r.mu.Unlock()
			found := r.find(l)
			r.mu.Lock()
			for _, e := range found {
				r.putLocked(job{l.command, e})
			}
			r.mu.Unlock()
			continue
		}
		j := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		text, err := json.Marshal(j.event)
		if err == nil {
			err = r.run(j.command, append(text, '\n'))
		}
		if err != nil {
			r.log.Warn("a command for toolsets failed", zap.String("command", j.command.Name), zap.NamedError("err", err))
		}
	}
}
