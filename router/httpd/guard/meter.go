package guard

import (
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// A meter counts what each of many does. It remembers at least the last maxMetered of them, and at most twice as many.
type meter struct {
	limit rate.Limit
	burst int

	// guarded by mu
	mu       sync.Mutex
	now, old map[string]*rate.Limiter // who was seen lately, and before that
}

func newMeter(limit rate.Limit, burst int) *meter {
	return &meter{limit: limit, burst: burst, now: map[string]*rate.Limiter{}}
}

// allow reports whether one more is within who's limit, and counts it if so.
func (m *meter) allow(who string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.now[who]
	if l == nil {
		if l = m.old[who]; l == nil {
			l = rate.NewLimiter(m.limit, m.burst)
		}
		if len(m.now) >= maxMetered {
			m.now, m.old = map[string]*rate.Limiter{}, m.now
		}
		m.now[who] = l
	}
	return l.Allow()
}

// network is whom an address belongs to: with IPv6, whoever has one has 2^64 of them.
func network(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
