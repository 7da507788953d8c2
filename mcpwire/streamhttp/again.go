package streamhttp

import (
	"net/http"
	"time"

	"toolman/mcpwire"
)

const (
	maxTries   = 4                      // of one message
	firstPause = 200 * time.Millisecond // between tries, doubled each time
	maxPause   = 30 * time.Second
	patience   = 5 * time.Second // the longest Retry-After that is waited for
)

// pause is how long to wait before the next try, of which there have been n.
func pause(n int) time.Duration { return min(firstPause<<min(n, 10), maxPause) }

// again decides whether a message is sent once more, and when. What may have been carried
// out is not repeated, unless that changes nothing.
func (c *Conn) again(p *post, f *failure, tries int) (wait time.Duration, again bool) {
	switch {
	case p.opened && (f.status == 0 || f.passing):
		return max(pause(tries), f.wait), true // a subscription is wanted as long as it is not taken back
	case f.status == http.StatusUnauthorized:
		return 0, f.unsent
	case f.status == http.StatusNotFound && p.inSession() && p.id != "" && !p.revived:
		p.revived = true // it was not executed (2025-11-25, Transports, Session Management)
		return 0, c.revive(p)
	case f.code == mcpwire.CodeHeaderMismatch && p.method == mcpwire.ToolsCall && !p.relisted:
		p.relisted = true
		return 0, c.relist(p)
	case f.notStreamable() && p.method == mcpwire.Initialize && p.own == nil && p.era == mcpwire.Legacy:
		return 0, c.fallBack(p)
	case tries+1 >= maxTries || !f.passing || f.wait > patience:
		return 0, false
	}
	return max(pause(tries), f.wait), f.unsent || p.safe()
}
