package peer

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc"
)

// maxBatchBytes is how many bytes of responses to one batch a BatchResponder keeps before it sends
// them in an array of their own.
const maxBatchBytes = 4 << 20

// A BatchResponder is a Sender that writes the responses to a batch of requests as one array
// (JSON-RPC 2.0, section 6). It passes on all other frames. Of MCP's revisions only 2025-03-26 has
// batches.
type BatchResponder struct {
	Sender
	peer       *Peer        // behind Sender, if there is one
	incomplete atomic.Int32 // batches that are not answered completely

	mu      sync.Mutex
	batches []*pendingBatch // guarded by mu
}

// pendingBatch are the responses to one batch.
type pendingBatch struct {
	missing [][]byte // ids of requests without a response
	array   []byte   // responses that were not sent yet
}

// NewBatchResponder returns a BatchResponder that writes to a sender.
func NewBatchResponder(to Sender) *BatchResponder {
	return &BatchResponder{Sender: to, peer: farEnd(to)}
}

// answersBatch reports whether a sender has to see each frame, because it may answer a batch.
func answersBatch(to Sender) bool {
	r, ok := to.(*BatchResponder)
	return ok && r.incomplete.Load() > 0
}

// Expect announces a batch whose requests have these ids, which are JSON tokens. An id that cannot
// be read is null.
func (r *BatchResponder) Expect(ids [][]byte) {
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, &pendingBatch{missing: ids})
	r.incomplete.Add(1)
}

// Queue implements Sender.
func (r *BatchResponder) Queue(frame []byte, edits []jsonrpc.Edit) error {
	if r.incomplete.Load() == 0 {
		return r.Sender.Queue(frame, edits)
	}
	var m jsonrpc.Message
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	if jsonrpc.Scan(whole, &m) != nil || m.Kind != jsonrpc.Response {
		return r.Sender.Queue(whole, nil)
	}
	return r.answer(m.Bytes(m.ID), whole)
}

// QueueMessage implements MessageSender.
func (r *BatchResponder) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if r.incomplete.Load() == 0 {
		return queueMessage(r.Sender, m, edits)
	}
	return r.Queue(m.Frame, edits)
}

// answer adds a response to the batch that waits for it.
func (r *BatchResponder) answer(id, frame []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, batch := range r.batches {
		if !batch.drop(id) {
			continue
		}
		batch.array = append(append(batch.array, ','), frame...)
		if len(batch.missing) > 0 && len(batch.array) < maxBatchBytes {
			return nil
		}
		return r.writeLocked(batch)
	}
	return r.Sender.Queue(frame, nil)
}

// Forget says that a request gets no response.
func (r *BatchResponder) Forget(id []byte) {
	if r.incomplete.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, batch := range r.batches {
		if batch.drop(id) {
			if len(batch.missing) == 0 {
				r.writeLocked(batch)
				r.Sender.Flush()
			}
			return
		}
	}
}

// drop removes an id from those that are missing.
func (b *pendingBatch) drop(id []byte) bool {
	i := slices.IndexFunc(b.missing, func(other []byte) bool { return bytes.Equal(id, other) })
	if i < 0 {
		return false
	}
	b.missing = slices.Delete(b.missing, i, i+1)
	return true
}

// writeLocked sends the responses to a batch, and removes the batch if it is complete.
func (r *BatchResponder) writeLocked(batch *pendingBatch) (err error) {
	if len(batch.array) > 0 {
		batch.array[0] = '['
		err = r.Sender.Queue(append(batch.array, ']'), nil)
		batch.array = nil
	}
	if len(batch.missing) == 0 {
		r.batches = slices.DeleteFunc(r.batches, func(other *pendingBatch) bool { return other == batch })
		r.incomplete.Add(-1)
	}
	return err
}

// MaxBatch is how many messages a batch may have.
const MaxBatch = 256

// Batch returns the messages of a frame that is a batch. It returns none if the frame is not a
// batch, or has more than MaxBatch messages.
func Batch(frame []byte) (elements []jsonrpc.Span) {
	if len(frame) == 0 || frame[0] != '[' || !jsonrpc.Valid(frame) {
		return nil
	}
	jsonrpc.OneLine(frame)
	for at := range jsonrpc.Elements(frame, jsonrpc.Span{Hi: len(frame)}) {
		if elements = append(elements, at); len(elements) > MaxBatch {
			return nil
		}
	}
	return elements
}
