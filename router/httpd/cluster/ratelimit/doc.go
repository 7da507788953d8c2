// Package ratelimit limits the requests that a client makes to all replicas of a cluster together.
//
// The engine has a bucket of tokens for each client. A replica takes a tenth of a second's worth at
// a time, and more before they are used up, so a request normally waits for no answer of the
// engine. If that is a single token, it takes one for each request: what one replica held in
// reserve could not be used at another.
//
// If the engine does not answer, each replica allows its share: the limit divided by the number of
// replicas.
package ratelimit
