package upstream

import (
	"slices"
	"sync"
	"time"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Status is what is known of an upstream.
type Status struct {
	Name, Namespace string
	State           State
	Problem         string        // why it is gone
	Retry           time.Duration // until it is tried again, or a second if that is now; 0: it is not gone, or not tried
	Result          mcpwire.InitializeResult
	Took            time.Duration // from start to ready
	StartTimeout    time.Duration // of its configuration
	Patience        time.Duration // how long the first list waits for it: StartTimeout or, if it is awaited, until it is given up
	Starts          int           // connections that were made to it, those of single sessions included
	Junk            int           // lines on its output that were no messages
	Entries         [mcpwire.Kinds][]*catalog.Entry
	Unread          [mcpwire.Kinds]string // why a list of a ready server is not known as it is now, or not whole
	Stderr          string                // its last lines
}

// Era returns the era that the server is of, "" before that is known.
func (s *Status) Era() string {
	if s.Result.ProtocolVersion == "" {
		return ""
	}
	return mcpwire.EraOf(s.Result.ProtocolVersion).String()
}

// recent remembers the last ids of calls that were given up, to tell a late
// answer from one that nobody asked for.
type recent struct {
	mu   sync.Mutex
	ids  [64]uint64
	next int
}

func (r *recent) add(id uint64) {
	r.mu.Lock()
	r.ids[r.next%len(r.ids)] = id
	r.next++
	r.mu.Unlock()
}

// has reports whether id is among them; 0, which no call has, is not.
func (r *recent) has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id != 0 && slices.Contains(r.ids[:], id)
}
