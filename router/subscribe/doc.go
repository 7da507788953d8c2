// Package subscribe keeps what a client hears of by itself: changes of lists and resources, and its
// tasks.
//
// A Set holds the client's subscriptions of both eras: resources/subscribe and subscriptions/listen. At
// servers that sessions share, and at those of the modern era, toolman subscribes in the client's place;
// package upstream counts who wants what. Tasks (2025-11-25) pass through with their own IDs, and are
// remembered with the side that does them.
//
// Methods need the session's Conn.Mu, but for those that handle a server's message: Set.Updated,
// Set.End, Tasks.Learn, Tasks.Status and Tasks.Progress.
package subscribe
