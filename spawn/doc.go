// Package spawn runs child processes that communicate over their standard streams. It knows nothing
// of their protocol, and does not log.
//
// # Life of a child
//
// Every child leads its own process group (on Windows, its own job object), because the configured
// command is often a wrapper (npx, sh -c), and the server is a child of that. All signals go to the
// group.
//
//	Start ──▶ running ──▶ exited ──▶ ended
//
// While it is running, the caller uses and closes Stdin and Stdout. This package reads standard
// error from start to end, so that a child never blocks in writing it.
//
// It is exited when the leader has ended. Then Done is closed and ExitStatus is known. Its group
// continues for a moment, because its last output may still be in the pipe, and a wrapper may have
// left the server behind. On Linux the leader stays a zombie during that moment, so no other
// process can get its pid and be signalled.
//
// It is ended after KillGroup or Stop, or one second without either. Then what is left of the group
// is killed, the leader is reaped, and standard error is closed. No zombie, descriptor or goroutine
// remains, except the two pipe ends of the caller.
//
// Stop closes stdin, waits, sends SIGTERM to the group, waits, and sends SIGKILL to the group. Stop
// and KillGroup may be called at any time, several times, and concurrently.
//
// # When toolman itself is killed
//
// A Reaper is a second process that only reads a pipe from this one. Each group is announced to it,
// with the start time of its leader. The pipe ends when this process ends for any reason, and each
// child that was being started has its own program or is dead. The reaper then kills the groups
// that remain. On Linux it also kills each process that has the token of this run in its
// environment, even if it has left its group (setsid, double fork). On Windows the kernel closes
// the jobs instead.
//
// Reaper.Close does the same within this process, and tells the reaper that nothing is left. If
// that takes too long on a busy machine, the reaper does the rest.
//
// Nothing is killed by its number alone, because another process may have the number now. The
// leader of a group is not reaped before the last signal to the group. If it was reaped, its start
// time is compared. A process that was found by its token is killed through a pidfd.
//
// On Linux the reaper is stopped for its first second, so that the children start sooner. The
// kernel resumes it if this process ends before.
//
// Some processes escape: on macOS, a process that has left its group; on Linux, one that has left
// its group and erased its environment, or changed its user. On other Unix systems, where start
// times are not known, the reaper does not kill a group whose leader lives.
package spawn
