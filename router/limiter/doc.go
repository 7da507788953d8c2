// Package limiter lets at most so many calls be under way at a server at once. The others wait in
// queues, one for each client.
//
// A client with a credential can always have one place. It gets more only as long as it has at most
// three times as many as are left free: three quarters by itself, and less the more others have.
// So a few clients that take all they can get, and keep it, leave places to the next one. A place goes
// to the client with the fewest calls under way; of several such clients, to the one that has waited
// longest. Clients without a credential are one client, which can have all places.
package limiter
