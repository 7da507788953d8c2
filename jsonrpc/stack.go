package jsonrpc

// growStack makes room for times 5 KiB on a goroutine's stack while there is nothing on
// it. Grown deep in calls it is copied, and the runtime looks every function on it up in
// tables that nothing else brings into memory.
//
//go:noinline
func growStack(times int) byte {
	var room [5 << 10]byte
	if times > 1 {
		return growStack(times-1) + room[times]
	}
	return room[times]
}
