package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// probeTime is how long a server may take to answer server/discover, from its start
// on: servers of the handshake may never do.
const probeTime = 15 * time.Second

// ErrProbed says that the server has ended because it was asked for its era.
var ErrProbed = errors.New("it ended when it was asked for its era")

// A Handshake finds out of which era a server is, and what it can do.
type Handshake struct {
	Control *jsonrpc.Control
	Era     mcpwire.Era    // of the server; Unknown: as it turns out
	First   mcpwire.Era    // that is tried first
	Client  *mcpwire.Hello // what a legacy server is told of the client
	Claim   *mcpwire.Claim // what toolman says of itself to a modern one
	Info    []byte         // toolman's Implementation object
	Started time.Time      // when the server was started
	Probing *atomic.Bool   // is set while the server is asked for its era
}

// Do does the handshake. The error is ErrProbed if the server has ended because of it.
func (h *Handshake) Do(ctx context.Context) (mcpwire.InitializeResult, error) {
	if h.First == mcpwire.Modern {
		return h.discoverFirst(ctx)
	}
	return h.initializeFirst(ctx)
}

// initializeFirst tries the handshake, and asks a server that refuses it whether it
// is a modern one.
func (h *Handshake) initializeFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	result, err := h.handshake(ctx)
	var refused *jsonrpc.Error
	if h.Era == mcpwire.Legacy || !errors.As(err, &refused) {
		return result, err
	}
	if modern, modernErr := h.discover(ctx); modernErr == nil && modern.ProtocolVersion != "" {
		return modern, nil
	}
	return result, err
}

// discoverFirst asks what a modern server would answer, and goes through the handshake
// with any other.
func (h *Handshake) discoverFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	probe, cancel := context.WithDeadline(ctx, h.Started.Add(probeTime))
	defer cancel()
	h.Probing.Store(h.Era == mcpwire.Unknown)
	result, err := h.discover(probe)
	if h.Era == mcpwire.Unknown && !h.Probing.CompareAndSwap(true, false) {
		return result, ErrProbed
	}
	if listed, modern := mcpwire.ListedVersions(err); modern && mcpwire.Mutual(listed, mcpwire.Modern) != "" {
		result, err = h.discover(ctx) // once more: it may have been another request's claim
	}
	switch {
	case err == nil && result.ProtocolVersion != "":
		return result, nil
	case h.Era == mcpwire.Modern && err == nil:
		return result, fmt.Errorf("server/discover: the server speaks no revision from %s on", mcpwire.Newest)
	case h.Era == mcpwire.Modern:
		return result, err
	}
	result, handshakeErr := h.handshake(ctx)
	if _, modern := mcpwire.ListedVersions(handshakeErr); modern {
		return h.discover(ctx) // a slow one that has made up its mind
	}
	return result, handshakeErr
}

// discover asks a modern server what it is.
func (h *Handshake) discover(ctx context.Context) (mcpwire.InitializeResult, error) {
	raw, err := h.Control.Call(ctx, string(mcpwire.Discover), json.RawMessage(h.Claim.AppendParams(nil, nil)))
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
func (h *Handshake) handshake(ctx context.Context) (mcpwire.InitializeResult, error) {
	hello := *h.Client
	result, err := h.initialize(ctx, hello, mcpwire.Latest)
	if listed, _ := mcpwire.ListedVersions(err); mcpwire.Mutual(listed, mcpwire.Legacy) != "" {
		result, err = h.initialize(ctx, hello, mcpwire.Mutual(listed, mcpwire.Legacy))
	}
	if err != nil {
		return result, err
	}
	if !mcpwire.Supported(result.ProtocolVersion) {
		return result, fmt.Errorf("initialize: the server speaks revision %q, which this toolman does not", sanitize.Cut(result.ProtocolVersion, catalog.NameLimit))
	}
	return result, nil
}

func (h *Handshake) initialize(ctx context.Context, hello mcpwire.Hello, version string) (result mcpwire.InitializeResult, err error) {
	params := mcpwire.InitializeParams{ProtocolVersion: version, Capabilities: hello.Relayed(), ClientInfo: hello.Info}
	if params.ClientInfo == nil {
		params.ClientInfo = h.Info
	}
	raw, err := h.Control.Call(ctx, string(mcpwire.Initialize), params)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("initialize: the answer has a wrong shape: %w", err)
	}
	return result, nil
}
