package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// probeTime is how long a server may take to answer server/discover, from its start
// on: servers of the handshake may never do.
const probeTime = 15 * time.Second

// errProbed says that the server has ended because it was asked for its era.
var errProbed = errors.New("it ended when it was asked for its era")

// meet finds out of which era the server is, and what it offers. A server that is
// not known is taken for one of the era that it was pinned in, since some define items
// differently in each, and else of the client's first: that way there is the least to
// bridge.
func (u *Upstream) meet(ctx context.Context) error {
	first := u.Era
	if first == mcpwire.Unknown {
		first = u.env.Host.Rules().Eras[u.Name]
	}
	if first == mcpwire.Unknown {
		first = mcpwire.EraOf(u.greeting.client.Version)
	}
	var result mcpwire.InitializeResult
	var err error
	if first == mcpwire.Modern {
		result, err = u.discoverFirst(ctx)
	} else {
		result, err = u.initializeFirst(ctx)
	}
	if err != nil {
		return err
	}
	if modern := mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern; modern != u.Source.Modern {
		u.Source.Modern = modern // a process that one session has for itself has it from the start, and calls read it
	}
	u.mu.Lock()
	u.offered.result = result
	u.mu.Unlock()
	if u.Source.Modern {
		u.env.Trace.Event(trace.EventReady, u.Name, "discovered, revision "+result.ProtocolVersion, 0)
		return nil
	}
	u.env.Trace.Event(trace.EventReady, u.Name, "initialized, revision "+result.ProtocolVersion, 0)
	return u.pipe.control.Notify(ctx, string(mcpwire.Initialized), nil)
}

// initializeFirst tries the handshake, and asks a server that refuses it whether it
// is a modern one.
func (u *Upstream) initializeFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	result, err := u.handshake(ctx)
	var refused *jsonrpc.Error
	if u.Era == mcpwire.Legacy || !errors.As(err, &refused) {
		return result, err
	}
	if modern, modernErr := u.discover(ctx); modernErr == nil && modern.ProtocolVersion != "" {
		return modern, nil
	}
	return result, err
}

// discoverFirst asks what a modern server would answer, and goes through the handshake
// with any other.
func (u *Upstream) discoverFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	probe, cancel := context.WithDeadline(ctx, u.life.startedAt.Add(probeTime))
	defer cancel()
	u.greeting.probing.Store(u.Era == mcpwire.Unknown)
	result, err := u.discover(probe)
	if u.Era == mcpwire.Unknown && !u.greeting.probing.CompareAndSwap(true, false) {
		return result, errProbed
	}
	if listed, modern := mcpwire.ListedVersions(err); modern && mcpwire.Mutual(listed, mcpwire.Modern) != "" {
		result, err = u.discover(ctx) // once more: it may have been another request's claim
	}
	switch {
	case err == nil && result.ProtocolVersion != "":
		return result, nil
	case u.Era == mcpwire.Modern && err == nil:
		return result, fmt.Errorf("server/discover: the server speaks no revision from %s on", mcpwire.Newest)
	case u.Era == mcpwire.Modern:
		return result, err
	}
	result, handshakeErr := u.handshake(ctx)
	if _, modern := mcpwire.ListedVersions(handshakeErr); modern {
		return u.discover(ctx) // a slow one that has made up its mind
	}
	return result, handshakeErr
}

// discover asks a modern server what it is.
func (u *Upstream) discover(ctx context.Context) (mcpwire.InitializeResult, error) {
	raw, err := u.pipe.control.Call(ctx, string(mcpwire.Discover), json.RawMessage(u.env.claim().AppendParams(nil, nil)))
	if err != nil {
		return mcpwire.InitializeResult{}, err
	}
	result, err := mcpwire.ParseDiscoverResult(raw)
	if err != nil {
		return result, fmt.Errorf("%s: %w", mcpwire.Discover, err)
	}
	return result, nil
}

// handshake does initialize.
func (u *Upstream) handshake(ctx context.Context) (mcpwire.InitializeResult, error) {
	hello := *u.greeting.client
	result, err := u.initialize(ctx, hello, mcpwire.Latest)
	if listed, _ := mcpwire.ListedVersions(err); mcpwire.Mutual(listed, mcpwire.Legacy) != "" {
		result, err = u.initialize(ctx, hello, mcpwire.Mutual(listed, mcpwire.Legacy))
	}
	if err != nil {
		return result, err
	}
	if !mcpwire.Supported(result.ProtocolVersion) {
		return result, fmt.Errorf("initialize: the server speaks revision %q, which this toolman does not", sanitize.Cut(result.ProtocolVersion, catalog.NameLimit))
	}
	return result, nil
}

func (u *Upstream) initialize(ctx context.Context, hello mcpwire.Hello, version string) (result mcpwire.InitializeResult, err error) {
	params := mcpwire.InitializeParams{ProtocolVersion: version, Capabilities: hello.Relayed(), ClientInfo: hello.Info}
	if params.ClientInfo == nil {
		params.ClientInfo = u.env.info()
	}
	raw, err := u.pipe.control.Call(ctx, string(mcpwire.Initialize), params)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("initialize: the answer has a wrong shape: %w", err)
	}
	return result, nil
}
