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

// probeTime is how long after its start a server may take to answer server/discover. Some servers
// of the legacy era never answer it.
const probeTime = 15 * time.Second

// ErrProbed is returned by Handshake.Do if the server has closed its output after server/discover.
// The caller starts it again and does the handshake of the legacy era.
var ErrProbed = errors.New("it closed its output after server/discover")

// A Handshake finds the era of a server and its capabilities.
type Handshake struct {
	Control *jsonrpc.Control
	Era     mcpwire.Era    // as configured; Unknown: not configured
	First   mcpwire.Era    // the era to try first
	Client  *mcpwire.Hello // sent to a legacy server
	Claim   *mcpwire.Claim // metadata of requests to a modern server
	Info    []byte         // toolman's Implementation object
	Started time.Time      // when the server was started
	Probing *atomic.Bool   // set while server/discover is pending; Do's caller clears it if the server ends
}

// Do does the handshake. The error is ErrProbed if the caller has cleared Probing.
func (h *Handshake) Do(ctx context.Context) (mcpwire.InitializeResult, error) {
	if h.First == mcpwire.Modern {
		return h.discoverFirst(ctx)
	}
	return h.initializeFirst(ctx)
}

// initializeFirst sends initialize, and server/discover if the server refuses that.
func (h *Handshake) initializeFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	result, err := h.handshake(ctx)
	var refused *jsonrpc.Error
	if h.Era == mcpwire.Legacy || !errors.As(err, &refused) {
		return result, err
	}
	modern, modernErr := h.discover(ctx)
	if modernErr == nil && modern.ProtocolVersion != "" {
		return modern, nil
	}
	if _, isModern := mcpwire.ListedVersions(err); isModern && modernErr != nil {
		return modern, modernErr // it says more
	}
	return result, err
}

// discoverFirst sends server/discover, and initialize if the server is not a modern one.
func (h *Handshake) discoverFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	probe, cancel := context.WithDeadline(ctx, h.Started.Add(probeTime))
	defer cancel()
	h.Probing.Store(h.Era == mcpwire.Unknown)
	result, err := h.discover(probe)
	if h.Era == mcpwire.Unknown && !h.Probing.CompareAndSwap(true, false) {
		return result, ErrProbed
	}
	if listed, modern := mcpwire.ListedVersions(err); modern && mcpwire.Mutual(listed, mcpwire.Modern) != "" {
		result, err = h.discover(ctx) // the refused revision may have been that of another request
	}
	switch {
	case err == nil && result.ProtocolVersion != "":
		return result, nil
	case h.Era == mcpwire.Modern && err == nil:
		return result, fmt.Errorf("server/discover: the server supports no revision from %s on", mcpwire.Newest)
	case h.Era == mcpwire.Modern:
		return result, err
	}
	result, handshakeErr := h.handshake(ctx)
	if _, modern := mcpwire.ListedVersions(handshakeErr); modern {
		return h.discover(ctx) // a modern server that was slow to answer, or has refused that
	}
	return result, handshakeErr
}

// discover sends server/discover.
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

// handshake does the handshake of the legacy era, with another revision if the server asks for one.
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
		return result, fmt.Errorf("initialize: the server speaks revision %q, which toolman does not support", sanitize.Cut(result.ProtocolVersion, catalog.NameLimit))
	}
	return result, nil
}

// initialize sends initialize.
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
		return result, fmt.Errorf("initialize: invalid result: %w", err)
	}
	return result, nil
}
