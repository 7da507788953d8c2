package streamhttp

// A milestone of a message is behind it or not. Few are waited for. It is guarded by Conn.mu.
type milestone struct {
	passed bool
	all    chan struct{} // closed then; nil as long as nobody has asked for it
}

// pass reports whether it was not behind yet.
func (m *milestone) pass() bool {
	if m.passed {
		return false
	}
	m.passed = true
	if m.all != nil {
		close(m.all)
	}
	return true
}

// wait returns what is closed when it is behind.
func (m *milestone) wait() <-chan struct{} {
	if m.all == nil {
		m.all = make(chan struct{})
		if m.passed {
			close(m.all)
		}
	}
	return m.all
}
