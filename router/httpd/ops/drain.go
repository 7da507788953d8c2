package ops

import (
	"context"
	"net"
	"net/http"
	"time"
)

// An Ending says how a server ends. Its zero value ends at once.
type Ending struct {
	Health *Health // says so; nil: nobody asks
	// Notice is how long clients are still let in after Health has turned, for those
	// who ask it now and then to see that.
	Notice time.Duration
	// Wait is how long calls under way may take after that.
	Wait time.Duration
	// Calls tells how many calls are under way; nil: none.
	Calls func() int
	// EndStreams ends the streams that stay open between calls, once no call is under
	// way, or Wait is over; nil: there are none. It does not wait.
	EndStreams func()
}

const (
	farewell  = 250 * time.Millisecond // for the last bytes of streams
	lookEvery = 5 * time.Millisecond
)

// Serve serves a listener until the context ends, and then ends as e says: the
// health turns, the listener closes, calls under way are waited for, streams are ended,
// and what is left is cut off. It returns how many calls those were, and an error when
// it could not serve.
func Serve(ctx context.Context, srv *http.Server, l net.Listener, e Ending) (cut int, err error) {
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

// end ends the server and returns how many calls it has cut off.
func (e Ending) end(srv *http.Server) int {
	if e.Health != nil {
		e.Health.End()
	}
	time.Sleep(e.Notice)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		ctx, cancel := context.WithTimeout(context.Background(), e.Wait+farewell)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
	}()
	e.await(closed)
	cut := e.calls()
	if e.EndStreams != nil {
		e.EndStreams()
	}
	<-closed // what is left are answers on their way, or clients that do not read them
	return cut
}

// await waits until no call is under way, or for as long as they may take.
func (e Ending) await(closed <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	over := time.After(e.Wait)
	for e.calls() > 0 {
		select {
		case <-tick.C:
		case <-closed:
			return
		case <-over:
			return
		}
	}
}

func (e Ending) calls() int {
	if e.Calls == nil {
		return 0
	}
	return e.Calls()
}
