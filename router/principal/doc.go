// Package principal identifies who makes requests over HTTP.
//
// A Principal holds everything that the rights of a request derive from. It is built once for each
// request, when its credential has been checked, and everything that belongs to one client and to
// no other is kept under it: sessions, budgets, the log of calls, saved toolsets and consents.
package principal
