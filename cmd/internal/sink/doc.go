// Package sink writes to a place that may be slow, full or gone without ever
// making the writer wait. toolman's log goes through it: a client that does not
// read toolman's stderr must not stop the traffic.
package sink
