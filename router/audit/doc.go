// Package audit writes the audit log: one line of JSON for every request about a tool, a resource or a prompt that toolman has
// decided about, once the request is over.
//
// [Line] is the format. A front that speaks for others (a client over HTTP, a bridge) tells who they are in its
// fields Agent, Client and Session; nothing else in it depends on how a request came.
//
// # Decisions
//
// A [Decision] is begun when it is known what becomes of a request, and ended by whoever answers the request, or sees that
// nobody will. What is refused at once ends at once. A request that is asked something in between, of its client or a person,
// is one decision. Only lists, pings and the like, about which there is nothing to decide, have none.
//
// # Observers
//
// What else wants to know of decisions, such as metrics, is an [Observer] of the same Writer; [Watch] joins them. There need not be a
// file for that.
//
// # Cost
//
// Nothing here waits: a decision that ends goes into a queue, bounded in lines, and one goroutine does the rest (the canonical
// form and hash of the arguments, redaction, writing). The arguments of requests that are not over are kept for it, bounded in
// bytes. Lines for which there was no room, or which the file did not take, are counted, and the next line says how many they
// were. A nil *Writer, and the nil *Decision it begins, do nothing.
package audit
