package diagnosis

import "strings"

// ofRemote explains a server at a URL or a socket that cannot be used.
func (s *Server) ofRemote() (Finding, bool) {
	problem := s.Status.Problem
	has := func(text string) bool { return strings.Contains(problem, text) }
	switch {
	case s.Socket != "":
		return s.problem("socket-unreachable", problem, "start the server that listens there, or correct socket at "+s.at()), true
	case s.Remote == nil:
		return Finding{}, false
	case s.Status.Login != "" && has("(401"): // it does not say that it takes logins
		return s.problem("token-missing", problem, "get a token from the operator of the server, "+s.writeTable("headers", [2]string{"Authorization", "Bearer ${TOKEN}"})+
			", and set the variable TOKEN where toolman is started; or, if the server takes logins, run "+s.Status.Login), true
	case s.Status.Login != "":
		return s.problem("login-required", problem, "run "+s.Status.Login), true
	case has("(401"):
		return s.problem("credentials-rejected", problem, "renew the token that headers or oauth at "+s.at()+" gives; an environment variable may hold an old one"), true
	case has("(403"):
		return s.problem("access-denied", problem, "use credentials with more rights in headers at "+s.at()+", or ask the operator of the server"), true
	case has("(407"):
		return s.problem("proxy", problem, "set user and password in HTTPS_PROXY where toolman is started"), true
	case has("(404"), has("(405"), has("instead of application/json"):
		return s.problem("wrong-url", problem, "correct url at "+s.at()+"; for many servers it ends in /mcp"), true
	case has("(429"), has("(50"):
		return s.problem("server-busy", problem, "try again later; toolman does so by itself"), true
	case has("gives no token (") && s.Remote.OAuth != nil && s.Remote.OAuth.TokenFile != "":
		return s.problem("credentials-rejected", problem, "write a new token into "+s.Remote.OAuth.TokenFile+"; else correct oauth at "+s.at()), true
	case has("gives no token ("):
		return s.problem("credentials-rejected", problem, "correct oauth at "+s.at()+": its client_id, client_secret and scopes"), true
	case has("certificate"):
		return s.problem("certificate", problem, "name the authority that signed it in ca_file at "+s.at()), true
	}
	if f, ok := s.ofEra(); ok {
		return f, true
	}
	if f, ok := s.ofTime(); ok {
		return f, true
	}
	return s.problem("unreachable", problem, "check url at "+s.at()+" and the network; behind a proxy set HTTPS_PROXY"), true
}

// ofEra explains a handshake that fails because of the revision.
func (s *Server) ofEra() (Finding, bool) {
	problem := s.Status.Problem
	modern := strings.Contains(problem, "server/discover")
	switch {
	case s.Era == "modern":
		return s.problem("wrong-era", "era is modern, and the server does not work so: "+problem, s.write("era", `"auto"`)), true
	case s.Era == "legacy" && (strings.Contains(problem, "-32601") || strings.Contains(problem, "ethod not found") || strings.Contains(problem, "nsupported protocol")):
		return s.problem("wrong-era", "era is legacy, and the server does not work so: "+problem, s.write("era", `"auto"`)), true
	case modern:
		return s.problem("wrong-era", "the server does not answer server/discover as MCP defines it: "+problem, s.write("era", `"legacy"`)), true
	case strings.Contains(problem, "which toolman does not support"):
		return s.problem("revision-unknown", problem, "update the server, or toolman"), true
	}
	return Finding{}, false
}
