// Package lockcmd is toolman lock: it starts the servers, and writes what they offer into
// tools.lock or compares it with that file.
package lockcmd
