// Package recall keeps what servers offered when they last ran, so that toolman can offer it again
// before they have started: the catalog cache.
//
// A [Memory] stores an [Offered] for each server and each kind of client. [Write] and [Parse] are
// its format in files. A [Keeper] stores what a running server offers, when that has changed.
//
// What is recalled only fills the lists of clients until the server is ready. No call is answered
// from it, and it replaces no check: policies, pins and rules judge recalled items as they judge
// items that a server has just listed.
package recall
