package stdio

import (
	"context"
	"os"
	"time"

	"toolman/cmd/internal/engine"
	"toolman/jsonrpc/peer"
	"toolman/router"
	"toolman/router/client"
)

const (
	drainTime   = 3 * time.Second // for calls under way when the client closes its side
	clientQueue = 1 << 20         // bytes that may wait for the client before servers have to wait
)

// Serve serves one client, from its first byte to the end of the servers.
func Serve(ctx context.Context, e *engine.Engine, agent string, stdin, stdout *os.File) error {
	peer, end, err := open(e.Loop, stdin, stdout)
	if err != nil {
		return err
	}
	e.RouterOptions.Recall = true
	r := router.New(e.RouterOptions, e.Loop, e.Log)
	s := r.NewSession(peer, client.Info{Sole: true, Agent: agent})
	peer.Start(s.Entry()) // initialize is answered before any server is started
	r.Start(e.Reaper())
	select {
	case <-ctx.Done():
		e.Log.Info("ending: " + context.Cause(ctx).Error())
		e.RouterOptions.Debug.Close()
	case <-s.Gone():
		e.Log.Info("ending: the client has closed the connection")
		e.RouterOptions.Debug.Close()
		if !s.Broken() && !drain(ctx, peer, s.Pending) {
			s.Abandon()
		}
	}
	r.Close()
	end()
	return nil
}

// open makes a peer of standard input and output. end sends what is queued, and closes it.
func open(loop *peer.Loop, stdin, stdout *os.File) (client *peer.Peer, end func(), err error) {
	in, out, flush, err := openFiles(stdin, stdout)
	if err != nil {
		return nil, nil, err
	}
	if client, err = loop.Peer(in, out, peer.Options{QueueLimit: clientQueue, Pressure: true}); err != nil {
		return nil, nil, err
	}
	return client, func() {
		client.CloseWrite()
		flush(engine.FlushTime)
		client.Close()
	}, nil
}

// drain waits until no answer is pending and the peer has received everything, or reads no more.
// It returns false if that takes longer than drainTime.
func drain(ctx context.Context, peer *peer.Peer, pending func() int) bool {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for (pending() > 0 || peer.Waiting() > 0) && !peer.Gone() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
