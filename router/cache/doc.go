// Package cache answers calls of tools with results that their server gave before.
//
// A Store holds the results of all servers, within bounds. The Results of one connection to a
// server say which tools they are kept of, and for how long:
//
//	call, frame := results.Begin(cache.Request{…})  // frame: the server's earlier answer, or nil
//	call.Answered(m)                                 // what the server has answered now
//
// What was written must be read. So a call of a tool that may change something makes all results of
// its server invalid when it begins and when it ends, and so does everything else after which the
// server may answer differently: see [Results.Drop]. The results of a connection are never used for
// another one. A call that began before a Drop does not add its result.
//
// Results are kept as the server wrote them. The key of a result is a hash of who called which
// tool with which arguments (key.go).
package cache
