// Package winproc starts processes on Windows. It is empty on other systems.
//
// # Jobs
//
// A [Process] and its descendants are a job object. It is suspended until it is in its job, so that
// no descendant escapes. This process has the only handle of the job, so the kernel kills the job
// when this process ends. [Guard] also covers the moment before a process is in its job.
//
// # Command lines
//
// Windows gives a process one command line, which the process itself splits into arguments. Most
// programs split it as Microsoft's C library does. cmd.exe does not, and it also runs all batch
// files, such as npx.cmd: a & or % in an argument has a meaning there. So batch files and cmd.exe
// get command lines of their own.
package winproc
