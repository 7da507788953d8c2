// Package cache answers calls of tools with results that their server gave before.
//
// A Store holds the results of all servers, within bounds. The Results of one connection to a
// server say which tools they are kept of, and for how long:
//
//	call, frame := results.Begin(cache.Request{…})  // frame: the server's earlier answer, or nil
//	call.Answered(m)                                 // what the server has answered now
//
// A call of a tool that may change something makes all results of its server invalid when it begins
// and when it ends. So does everything else after which the server may answer differently: see
// [Results.Drop]. A call that began before a Drop does not add its result. The results of a
// connection are never used for another one.
//
// Results are kept as the server wrote them. The key of a result is a hash of who called which
// tool with which arguments (key.go).
package cache
