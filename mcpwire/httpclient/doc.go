// Package httpclient makes HTTP clients for servers that are not trusted. There are limits on
// everything that a server sends, redirects stay within their origin, and Explain turns errors into
// texts for users.
package httpclient
