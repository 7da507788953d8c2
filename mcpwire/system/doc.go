// Package system hides how operating systems differ in files and connections. Windows reports a
// connection that was refused or a pipe that was closed with codes of its own, which are not those
// of package syscall. It also refuses to touch a file that another program has open, so [Retry] and
// [Rename] try again.
package system
