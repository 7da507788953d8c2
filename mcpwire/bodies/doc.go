// Package bodies reads the bodies of HTTP messages into memory that is used again.
package bodies
