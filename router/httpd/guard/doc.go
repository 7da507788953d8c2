// Package guard checks HTTP requests before any handler reads their bodies: host, origin,
// credential, and rate.
//
//	g, err := guard.New(o)
//	mux := http.NewServeMux()
//	mux.Handle("/mcp", g.Protect(endpoint))
//	mux.Handle(guard.MetadataPath, g.Open(g.Metadata()))
//	l, err := g.Listen(addr)
//	server, err := g.Server(guard.Plain(mux), …)
//	server.Serve(l) // or, with a certificate, server.ServeTLS(l, "", "")
//
// [Plain] accepts only paths that every reader understands in the same way. Then [Guard.Protect]
// makes these checks, in this order. The first that fails refuses the request:
//
//   - Host, against DNS rebinding, and Origin, against pages of other sites (2025-11-25,
//     transports, Security Warning). Preflights of allowed origins are answered here.
//   - The length of the body, if it is announced.
//   - The credential: a bearer token of [Options.Tokens], or a JSON web token for this server,
//     signed with a key of [Options.JWT].
//   - The headers mcp-client-id and mcp-toolset-permissions, which count only from a trusted
//     proxy.
//   - The number of requests of its principal.
//
// A refused request gets a JSON-RPC error that says why, and what to do. The context of an accepted
// one has its [Identity]. Reading its body fails if it is too long or too slow. After the body the
// request has no deadline, so that streams can stay open.
//
// Rules: no secret is kept (of tokens there are hashes), shown or logged. A credential is compared
// with all tokens in constant time. Memory for unauthenticated clients is limited. The package
// knows nothing of MCP except names of headers.
package guard
