package ops

import (
	"context"
	"net"
	"net/http"
	"time"
)

// An Ending says how a server shuts down. The zero value shuts down at once.
type Ending struct {
	Health *Health // answers 503 from the beginning; may be nil
	// Begin is called at the beginning, and must not wait. It may be nil.
	Begin func()
	// Notice is how long requests are still accepted then, so that load balancers that ask Health
	// now and then see it.
	Notice time.Duration
	// Wait is how long calls in flight may take after that.
	Wait time.Duration
	// Calls returns the number of calls in flight; nil: none.
	Calls func() int
	// EndStreams ends the streams that stay open between calls, when no call is in flight or Wait
	// is over. It does not wait, and may be nil.
	EndStreams func()
}

const (
	lingerTime = 250 * time.Millisecond // for the last bytes of streams
	checkEvery = 5 * time.Millisecond
)

// Serve serves a listener until the context ends, and then shuts down as e says: Health answers
// 503, the listener closes, calls in flight finish, streams end, and all other connections are
// closed. It returns the number of calls that were cut off. The error says why it could not serve.
func Serve(ctx context.Context, srv *http.Server, l net.Listener, e Ending) (cut int, err error) {
	if e.Calls == nil {
		e.Calls = func() int { return 0 }
	}
	failed := make(chan error, 1)
	go func() {
		if srv.TLSConfig != nil {
			failed <- srv.ServeTLS(l, "", "")
			return
		}
		failed <- srv.Serve(l)
	}()
	select {
	case err := <-failed:
		return 0, err
	case <-ctx.Done():
	}
	return e.end(srv), nil
}

// end shuts the server down and returns how many calls it has cut off.
func (e Ending) end(srv *http.Server) int {
	if e.Health != nil {
		e.Health.End()
	}
	if e.Begin != nil {
		e.Begin()
	}
	time.Sleep(e.Notice)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
	}()
	over := time.Now().Add(e.Wait)
	e.await(closed)
	cut := e.Calls() // before anything is cut off
	if e.EndStreams != nil {
		e.EndStreams()
	}
	defer time.AfterFunc(max(time.Until(over), 0)+lingerTime, cancel).Stop()
	<-closed // the rest are answers on their way, or clients that do not read them
	return cut
}

// await waits until no call is in flight, or Wait is over.
func (e Ending) await(closed <-chan struct{}) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	over := time.After(e.Wait)
	for e.Calls() > 0 {
		select {
		case <-tick.C:
		case <-closed:
			return
		case <-over:
			return
		}
	}
}
