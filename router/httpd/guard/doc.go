// Package guard decides who may come in over HTTP, before anything reads what they ask for.
//
//	g, err := guard.New(o)
//	mux := http.NewServeMux()
//	mux.Handle("/mcp", g.Protect(endpoint))
//	mux.Handle(guard.MetadataPath, g.Open(g.Metadata()))
//	l, err := g.Listen(addr)
//	server, err := g.Server(guard.Plain(mux), …)
//	server.Serve(l) // or, with a certificate, server.ServeTLS(l, "", "")
//
// [Plain] looks at a request's path, which has to be written plainly, so that nothing behind reads another one. After that
// [Guard.Protect] looks at it in this order, and the first that is not in order decides:
//
//   - Host, against DNS rebinding, and Origin, against pages of others (2025-11-25, transports, Security Warning);
//     preflights of allowed origins are answered here;
//   - the length that its body announces;
//   - the credential: a bearer token of [Options.Tokens], or a JSON web token that a key of [Options.JWT] has signed for
//     this server;
//   - mcp-client-id and mcp-toolset-permissions, which count only when a trusted proxy says them;
//   - how many requests its principal makes.
//
// What is refused gets a JSON-RPC error that says why and what to do. What gets through carries its [Identity] in the
// request's context, and a body that ends with an error when it is too long or too slow. The handler reads it to its end: from
// there on the request has no deadline, so streams live as long as they like.
//
// Rules: no secret is kept (of tokens there are hashes), shown or logged. A credential is compared with all tokens in
// constant time. Nothing that strangers send grows without a bound. The package knows nothing of MCP but header names.
package guard
