// Package limiter limits the number of concurrent calls at a server. Further calls wait in queues,
// one for each client.
//
// A client with a credential can always have one place, if one is free. It can have more as long as
// it has at most three times as many as are left free: three quarters if it is alone, and fewer the
// more the others have. So a few clients that take and keep all they can get leave places for the
// next one. A free place goes to the client with the fewest active calls. If several clients have
// equally few, it goes to the client whose call has waited longest. Clients without a credential
// count as one client, which can have all places.
package limiter
