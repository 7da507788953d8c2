package peer

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc"
)

// gatherBytes is how many bytes of responses to one batch a Gatherer keeps before it sends them in
// an array of their own.
const gatherBytes = 4 << 20

// A Gatherer is a Sender that writes the responses to a batch of requests as one array (JSON-RPC
// 2.0, section 6). It passes on all other frames. Of MCP's revisions only 2025-03-26 has batches.
type Gatherer struct {
	Sender
	peer *Peer        // behind Sender, if there is one
	open atomic.Int32 // batches that are not answered completely

	mu      sync.Mutex
	batches []*gathered // guarded by mu
}

// gathered are the responses to one batch.
type gathered struct {
	missing [][]byte // ids of requests without a response
	array   []byte   // responses that were not sent yet
}

// NewGatherer returns a Gatherer that writes to a sender.
func NewGatherer(to Sender) *Gatherer { return &Gatherer{Sender: to, peer: farEnd(to)} }

// answersBatch reports whether a sender has to see each frame, because it may answer a batch.
func answersBatch(to Sender) bool {
	g, ok := to.(*Gatherer)
	return ok && g.open.Load() > 0
}

// Expect announces a batch whose requests have these ids, which are JSON tokens. An id that cannot
// be read is null.
func (g *Gatherer) Expect(ids [][]byte) {
	if len(ids) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.batches = append(g.batches, &gathered{missing: ids})
	g.open.Add(1)
}

// Queue implements Sender.
func (g *Gatherer) Queue(frame []byte, edits []jsonrpc.Edit) error {
	if g.open.Load() == 0 {
		return g.Sender.Queue(frame, edits)
	}
	var m jsonrpc.Message
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	if jsonrpc.Scan(whole, &m) != nil || m.Kind != jsonrpc.Response {
		return g.Sender.Queue(whole, nil)
	}
	return g.answer(m.Bytes(m.ID), whole)
}

// QueueMessage implements Reader.
func (g *Gatherer) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if g.open.Load() == 0 {
		return queueMessage(g.Sender, m, edits)
	}
	return g.Queue(m.Frame, edits)
}

// answer adds a response to the batch that waits for it.
func (g *Gatherer) answer(id, frame []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, batch := range g.batches {
		if !batch.drop(id) {
			continue
		}
		batch.array = append(append(batch.array, ','), frame...)
		if len(batch.missing) > 0 && len(batch.array) < gatherBytes {
			return nil
		}
		return g.writeLocked(batch)
	}
	return g.Sender.Queue(frame, nil)
}

// Forget says that a request gets no response.
func (g *Gatherer) Forget(id []byte) {
	if g.open.Load() == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, batch := range g.batches {
		if batch.drop(id) {
			if len(batch.missing) == 0 {
				g.writeLocked(batch)
				g.Sender.Flush()
			}
			return
		}
	}
}

// drop removes an id from those that are missing.
func (b *gathered) drop(id []byte) bool {
	i := slices.IndexFunc(b.missing, func(other []byte) bool { return bytes.Equal(id, other) })
	if i < 0 {
		return false
	}
	b.missing = slices.Delete(b.missing, i, i+1)
	return true
}

// writeLocked sends the responses to a batch, and removes the batch if it is complete.
func (g *Gatherer) writeLocked(batch *gathered) (err error) {
	if len(batch.array) > 0 {
		batch.array[0] = '['
		err = g.Sender.Queue(append(batch.array, ']'), nil)
		batch.array = nil
	}
	if len(batch.missing) == 0 {
		g.batches = slices.DeleteFunc(g.batches, func(other *gathered) bool { return other == batch })
		g.open.Add(-1)
	}
	return err
}
