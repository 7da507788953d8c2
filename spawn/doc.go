// Package spawn runs child processes that speak over their standard streams.
// It moves bytes and ends processes; it knows nothing of what they say, and it does not log.
//
// # Life of a child
//
// Every child leads its own process group (on Windows: its own job object), because the
// configured command is often a wrapper (npx, sh -c) and the server is its grandchild.
// All signals go to the group.
//
//	Start ──▶ running ──▶ exited ──▶ ended
//
// While it is running, Stdin and Stdout are the caller's to use and to close. Standard error is
// drained by this package from start to end, whatever the caller does, so that a child can never
// block in writing it.
//
// It is exited when the leader has ended: Done is closed, ExitStatus is known. Its group is left
// alone for a moment, because its last bytes may still be in the pipe and a wrapper may have left
// the server behind. On Linux the leader stays a zombie during that moment, which pins its pid:
// nothing that is signalled can be somebody else's.
//
// It is ended after KillGroup or Stop, or one second without either: what is left of the group is
// killed, the leader is reaped, standard error is closed. No zombie, descriptor or goroutine
// remains, except the two pipe ends that belong to the caller.
//
// Stop walks down the ladder: close stdin, wait, SIGTERM the group, wait, SIGKILL the group. The
// caller says how long the waits are.
// Anyone may call Stop and KillGroup, at any time, as often as they like, concurrently.
//
// # When toolman itself is killed
//
// A Guard is a second process that does nothing but read a pipe from this one. Each group is
// announced to it, with the time when its leader was started. The pipe ends when this process ends,
// for whatever reason, and when each child that was being started has its own program or is dead.
// The guard then kills the groups that remain. On Linux it also kills each process whose environment
// carries the token of this run, wherever it has moved (setsid, double fork). On Windows the kernel
// does the same by closing the jobs.
//
// An orderly end does the same within this process (Guard.Close), and tells the guard that nothing
// is left. On a busy machine there may not be the time for that: then the guard does it.
//
// Nothing is killed by its number alone, which may have come to mean another process. The leader of
// a group is not reaped before the group has had its last signal; where it has been, the time of its
// start is compared. A process found by its token is held by a pidfd.
//
// On Linux the guard is stopped for its first second, so that the children start sooner; the
// kernel wakes it if this process ends before.
//
// What escapes: on macOS, a process that has left its group; on Linux, one that has left its
// group and wiped its environment, or changed its user. On other Unix systems, where the time of a
// start is not known, the guard kills no group whose leader lives.
package spawn
