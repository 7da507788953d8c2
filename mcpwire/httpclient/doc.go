// Package httpclient makes HTTP clients for servers that nobody vouches for. Whatever has no
// natural end has a bound, redirects stay within their origin, and errors can be explained to
// people.
package httpclient
