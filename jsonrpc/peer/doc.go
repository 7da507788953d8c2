// Package peer exchanges JSON-RPC messages with the far ends of pipes and sockets, one message a
// line.
//
// A Peer splits the bytes that it reads into frames and gives each message to its Handler. The
// handler sends through an Outgoing, which writes the messages that one read causes in one write
// for each receiver. On Linux, the peers of a Loop share one goroutine. Elsewhere each has two.
//
// A far end that does not read delays no other. Its queue fills up and then refuses messages
// (ErrQueueFull). If no message may be lost (Options.Pressure), the peers that send to it stop
// reading instead, until the queue is shorter.
//
// Handlers must not block. A handler that panics ends the process, because the messages that it has
// handled in part cannot be undone.
package peer
