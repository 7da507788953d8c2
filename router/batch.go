package router

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/upstream"
)

// batch handles a batch of messages, which only revision 2025-03-26 has. The answers
// come in one array, too.
func (s *Session) batch(frame []byte, out *peer.Outgoing) bool {
	elements := upstream.Elements(frame)
	s.Mu.Lock()
	may := s.Peer.Revision == mcpwire.V2025_03_26 && len(elements) > 0 && len(elements) <= upstream.MaxBatch
	if may && s.Front.Batches.Load() == nil {
		s.Front.Batches.Store(peer.NewBatchResponder(s.Front.Out))
	}
	s.Mu.Unlock()
	if !may {
		return false
	}
	var m jsonrpc.Message
	var ids [][]byte
	for _, at := range elements {
		switch err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); {
		case err != nil && !isResponse(&m):
			ids = append(ids, bytes.Clone(idOfBad(&m, err)))
		case err == nil && m.Kind == jsonrpc.Request:
			ids = append(ids, bytes.Clone(m.Bytes(m.ID)))
		}
	}
	s.Front.Batches.Load().Expect(ids)
	for _, at := range elements {
		if err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); err != nil {
			s.bad(&m, err, out)
		} else {
			s.Message(&m, out)
		}
	}
	return true
}
