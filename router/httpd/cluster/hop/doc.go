// Package hop forwards HTTP requests from one replica of a cluster to another.
//
//	client ─▶ edge: Client.Forward ═══ mutual TLS 1.3 ═══▶ owner: NewServer ─▶ handler(Head)
//	client ◀─ edge: copy, flush    ◀══════════════════════ response or stream of events
//
// Both sides have Ed25519 keys that are derived from the secrets of the cluster (Identity). Each
// accepts these public keys and no others. Two replicas that share one secret reach each other,
// whatever the order of their secrets: the client names its keys in the server name of TLS, and the
// server names its own as certificate authorities, so each presents a key that the other has.
//
// The header of a request has a Head: what the edge has found out about it. It counts only on
// connections of this package. It names the replica that the request is for, because another
// process may have got its address; such a process answers 421.
//
// A request is sent once. The package has its own HTTP/1.1 client instead of net/http's Transport,
// which repeats requests on its own, and does not tell whether a request may have been read.
// Result.Sent is exact in one direction: it is false only if no byte of the request was given to
// the system. Connections that the peer has closed while they were idle are found before anything
// is written. Clients close idle connections earlier than servers, so that is rare; but a server
// that ends at just that moment makes Sent true although the request was not read.
//
// A response with a length of up to 1 MB is read whole before it is passed on: if the owner dies
// before its end, the client can still get an error in its place. Streams are passed on as they
// come. While a stream is silent, the edge holds no buffer for its events: it costs 17 KB, most of
// it for TLS, beside the 27 KB of the handler of net/http.
package hop
