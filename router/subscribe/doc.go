// Package subscribe manages what a client is notified of: changes of lists and resources, and its
// tasks.
//
// A Set contains the client's subscriptions of both eras: resources/subscribe and
// subscriptions/listen. At shared servers and at modern servers toolman subscribes on behalf of the
// client; package upstream counts the subscribers. Tasks (2025-11-25) are forwarded with their own
// IDs. toolman remembers which side executes them.
//
// Methods require the session's Conn.Mu, except those that handle a server's message: Set.Updated,
// Set.End, Tasks.LearnServerTask, Tasks.Status and Tasks.Progress.
package subscribe
