// Package builtin answers the requests of a client that concern toolman itself: lists, calls of
// toolman's own tools and requests about its own resource.
//
// Package metatool defines the tools and computes what their calls do. This package applies the
// outcome to the session: it stores the new view, saves toolsets, announces changed lists, and
// answers when the client has listed the tools again.
//
// All methods of Items need the session's Conn.Mu, except Share.
package builtin
