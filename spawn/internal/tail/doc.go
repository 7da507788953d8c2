// Package tail keeps the last lines of a child's standard error, for errors that say why the child
// failed.
package tail
