// Package cluster makes several replicas of toolman one gateway. Each unit, a session of the legacy
// era or a caller, has one owner replica, which has all of it in its memory. Other replicas forward
// requests to the owner (package hop). If the owner dies, another replica becomes the owner and
// makes the sessions again from their records, which are in the engine (package engine).
//
//	request ─▶ guard ─▶ front ─▶ Cluster.Route ─┬─▶ here: the front goes on
//	                                            └─▶ Client.Forward ═▶ owner: Handler ─▶ front
//
// A front is httpd.Endpoint or bridge.Bridge.
//
// # Where a request is served
//
// The ID of a legacy session names the replica on which it began, and has a tag that only replicas
// can make. All other requests of a caller go to the caller's owner. If neither the caller nor a
// server keeps anything from one request to the next, every replica serves it.
//
// The engine is asked when a replica does not know an owner: for the first request of a caller, and
// when an owner is dead. It is not asked for calls.
//
// # Who is dead
//
// Every replica renews its lease each second. A replica is dead if nobody listens at its address,
// or if its lease has ended and it does not answer. If it cannot be reached although its lease
// lasts, nobody takes over its units.
//
// A replica that has not run for longer than its lease, for example because its machine was
// suspended, asks the engine which units it still owns before it serves anything.
//
// # Without the engine
//
// Sessions go on: the last known replicas stay. For a caller that a replica does not know it asks
// the others. Nobody takes over units of a dead replica; requests for them get 503. When the engine
// is back, and whenever it has lost writes, each replica writes again what it owns.
//
// Locks: Cluster.mu is a leaf, and is not held while the engine, another replica or a session is
// called.
package cluster
