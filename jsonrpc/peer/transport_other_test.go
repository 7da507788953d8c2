//go:build !linux

package peer

var ofThisSystem []transport
