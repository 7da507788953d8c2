//go:build !linux

package jsonrpc

var ofThisSystem []transport
