// Package remove is the command `toolman trace redact`: it removes keys, paths and values from a
// trace that was written before.
package remove
