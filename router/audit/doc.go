// Package audit writes the audit log: one line of JSON for each request about a tool, resource or
// prompt that toolman has decided about. The line is written when the request is over. [Line] is
// its format.
//
// # Decisions
//
// A [Decision] begins when toolman knows what to do with a request, and ends when the request is
// answered, or when it is certain that it will not be. A request that is refused ends at once. A
// request during which a client or a person is asked something has one decision. Requests about
// which there is nothing to decide, such as lists and pings, have none.
//
// # Observers
//
// Others that need to know of decisions, such as metrics, are an [Observer] of the same Writer; see
// [Watch]. A [Recorder] also gets what requests and answers contain; see [Record]. This works
// without a file, too.
//
// # Cost
//
// Nothing blocks: a decision that ends goes into a queue with a limited number of lines, and one
// goroutine does the rest (canonical form and hash of the arguments, redaction, writing). Until
// then the arguments are kept, up to a limit in bytes. Lines that do not fit into the queue, or
// that could not be written, are counted, and the next line has their number.
package audit
