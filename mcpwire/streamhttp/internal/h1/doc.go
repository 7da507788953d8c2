// Package h1 sends HTTP/1.1 requests to one server on connections of its own.
//
// net/http's Transport has two goroutines for each connection, and passes each request and response
// from one goroutine to the next. Here the goroutine that sends a request writes and reads the
// connection itself. With it a small call from HTTP to HTTP takes 20 % less processor time: 72 µs
// instead of 90 µs one at a time, 53 µs instead of 66 µs with 64 in flight (fixtures/bench, http100
// and http64 on one processor).
package h1
