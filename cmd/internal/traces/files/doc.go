// Package files finds and reads the files of traces, also while they grow.
package files
