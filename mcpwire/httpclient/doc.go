// Package httpclient makes HTTP clients for servers that are not trusted. There are limits on
// everything that a server sends, redirects stay within their origin, and Explain turns errors into
// texts for users.
//
// NewGuarded makes a client for URLs that such a server names. It keeps requests away from the
// user's own network and from the metadata servers of clouds.
package httpclient
