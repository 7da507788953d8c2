// Package page shows traces on a page in a browser: it serves the page while the files grow, and
// writes it into one file with the traces in it.
//
// # The server
//
// The server listens on loopback only. It refuses every request without the token, with another
// Host than its own, or from a page of another origin. The page may load nothing and connect to
// nothing else (Content-Security-Policy).
//
//	GET /                      the page
//	GET /runs                  the files, as JSON
//	GET /events?file=F&from=N  the lines of a file from the offset N, as server-sent events
//	GET /line?file=F&at=N      one whole line
//	GET /diff?a=F&b=F          two files compared, as toolman trace diff --json does
//
// An event holds whole lines, and its ID is the offset of the line after them. So a page that lost
// its connection continues where it was: it loses no line and gets none twice. A file that became
// shorter, or was replaced, begins anew with an event "reset". The event "live" says that the page
// has all that there was.
//
// A line of more than 64 KiB is sent with its long values cut; /line has the whole of it.
//
// # Memory
//
// A stream reads the next lines when the connection has taken the last ones. So a page that does
// not read costs two buffers, whatever the file has.
package page
