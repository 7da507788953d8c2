package httpd

import (
	"context"
	"time"
)

// A lent handler is away to wait for a server itself: the goroutine that has a request
// sends it on (jsonrpc.Lender). Most come back with the answer. When there is something for
// the client before that, be it progress, an answer of somebody else or a sign of life, a
// substitute finishes the response.
type lent struct {
	to     *stream
	ctx    context.Context // of the request
	silent time.Duration   // after which the client hears that the stream is still there
	finish func()          // the response, in the handler's place
	absent *absent

	away bool
	done chan struct{} // guarded by to.mu: closed when the substitute is done; nil: there is none
}

// Away implements jsonrpc.Lender.
func (l *lent) Away() {
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	if l.done != nil || l.away {
		return
	}
	l.away = true
	l.absent.add(l)
	l.to.substitute = l.start
	if len(l.to.frames) > 0 || l.to.ended || l.to.slow {
		l.to.callSubstitute()
	}
}

// Back implements jsonrpc.Lender.
func (l *lent) Back() {
	if !l.away {
		return
	}
	l.away = false
	l.absent.remove(l)
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	l.to.substitute = nil
}

// watch calls the substitute when the client is gone, or has heard nothing for long, unless
// the handler is back by then.
func (l *lent) watch() {
	limit := time.NewTimer(l.silent)
	defer limit.Stop()
	select {
	case <-l.ctx.Done():
	case <-limit.C:
	}
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	l.to.callSubstitute()
}

// start is stream.substitute.
func (l *lent) start() {
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		l.finish()
	}()
}

// replaced waits for the substitute; false: there is none.
func (l *lent) replaced() bool {
	l.to.mu.Lock()
	done := l.done
	l.to.mu.Unlock()
	if done != nil {
		<-done
	}
	return done != nil
}

// part finishes a response whose handler is away. It takes the connection from that, so that
// neither the end of the response nor the client's next request waits for it.
func (o *response) part(ctx context.Context, t *stream, keepAlive time.Duration) (end outcome) {
	o.w.Header().Set("Connection", "close")
	if ctx.Err() != nil {
		end = o.gone(ctx)
	} else if p, whole := t.takeAnswer(); whole {
		end, _ = o.carry(p)
		if t.wrote(p); o.flush() != nil {
			end = broken
		}
	} else if o.begin() != nil {
		end = broken
	} else {
		return o.serve(ctx, t, keepAlive)
	}
	o.hangUp()
	return end
}
