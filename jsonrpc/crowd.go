package jsonrpc

// A crowd is a Sender that takes everything, so that too much may wait for its far end.
type crowd interface{ crowded() bool }

// Crowded reports whether more waits for a far end than should, because it does not read and
// its Peer takes everything (PeerOptions.Pressure). Peers stop reading for such a one by themselves; whoever
// else passes messages on should wait until it is over.
func Crowded(to Sender) bool {
	c, ok := to.(crowd)
	return ok && c.crowded()
}

// Crowded returns those who were sent something since the last Flush and are crowded, nil
// for none.
func (b *Batch) Crowded() []Sender {
	var all []Sender
	for i := range b.touched {
		if to := b.touched[i].to; Crowded(to) {
			all = append(all, to)
		}
	}
	return all
}

func (p *Peer) crowded() bool {
	if !p.pressure {
		return false
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return !p.out.closed && p.out.waiting() > p.out.limit
}

func (g *Gatherer) crowded() bool { return Crowded(g.Sender) }
