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
// error from start to end, so that a child never blocks in writing it, unless Command.StderrFile
// says where it goes.
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
// A Reaper is a second process that only reads a pipe from this one. Start announces each group to
// it, with the start time of the group's leader. The pipe ends when this process ends, whatever the
// reason. A child that is just being started holds the pipe until it runs its own program. When the
// pipe ends, the reaper kills the remaining groups. On Linux it also kills each process that has
// the token of this run in its environment, even if the process has left its group (setsid, double
// fork). On Windows the kernel closes the jobs instead.
//
// Reaper.Close does the same within this process, and tells the reaper that nothing is left. If
// that takes too long on a busy machine, the reaper does the rest.
//
// A number alone is never enough to kill a process or a group, because another one may have the
// number now. The leader of a group is not reaped before the last signal to the group. The reaper
// compares the start times of leaders. It uses a pidfd to kill a process that it found by its
// token.
//
// On Linux the reaper is stopped for its first second, so that the children start sooner. The
// kernel resumes it if this process ends before.
//
// A command that was given to Outlive goes on, in a session of its own (on Windows, in no job of
// toolman's): no Reaper knows it.
//
// Some processes escape: on macOS, a process that has left its group; on Linux, one that has left
// its group and has also erased its environment or changed its user. On other Unix systems, start
// times are not known, so the reaper does not kill a group whose leader is alive.
package spawn
