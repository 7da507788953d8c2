package jsonrpc

import "os"

// growStack makes room for 10 KiB on a goroutine's stack while there is nothing on it. Grown
// deep in calls it is copied, and the runtime looks every function on it up in tables that
// nothing else brings into memory.
//
//go:noinline
func growStack() byte {
	var room [10 << 10]byte
	return room[len(os.Args)%len(room)]
}
