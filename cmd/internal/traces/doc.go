// Package traces is the command `toolman trace`: it shows, compares, replays, converts and checks
// what `toolman --trace` has written. The packages below it do the work.
package traces
