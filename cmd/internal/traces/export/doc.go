// Package export is the command `toolman trace export`: it writes a trace in the formats of other
// programs. Equal traces make equal files.
package export
