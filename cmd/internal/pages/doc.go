// Package pages gives back the memory that only the start of the program needed.
//
// Starting touches most of what there is of the program: what every package prepares,
// configuration, flags, handshakes. That is three quarters of the memory of a toolman that
// waits, and little of it is needed to pass messages on. What is used afterwards is mapped again
// from the page cache: the first call takes a tenth of a millisecond longer.
//
// What it is good for is whatever counts the resident set: top, limits, the choice of a
// victim when memory runs out. The pages stay in the page cache, and in the account of a
// control group, until the system wants them; it then gets them without asking.
package pages
