package bridge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router"
)

// upstreamError is the failure of a call that its server has answered with an error. The
// error itself goes with it, byte for byte.
func upstreamError(m *jsonrpc.Message) *Failure {
	text := "the server answered with an error"
	if at, err := m.Get(m.Err, "message"); err == nil && at.Present() {
		text += ": " + sanitize.Cut(string(m.Text(at)), maxShown)
	}
	f := fail(UpstreamError, text)
	f.Details = map[string]any{"error": json.RawMessage(m.Bytes(m.Err))}
	return f
}

// maxShown is how much of a foreign text a message has, in bytes.
const maxShown = 1000

// absent is the failure of a request about a server that there is not, or that is not
// there now; nil: it is.
func absent(s *session, server string) *Failure {
	st, known := s.router.Upstream(server)
	switch {
	case !known:
		return unknownServer(s, server)
	case st.State == router.Gone:
		f := fail(UpstreamGone, fmt.Sprintf("server %s is not running: %s", st.Name, sanitize.Cut(st.Problem, maxShown)))
		f.retry = int((st.Retry + time.Second - 1) / time.Second)
		return f
	case st.State == router.Starting:
		f := fail(UpstreamGone, fmt.Sprintf("server %s is still starting; try again", st.Name))
		f.retry = 1
		return f
	}
	return nil
}

func unknownServer(s *session, server string) *Failure {
	names := s.router.Servers()
	slices.Sort(names)
	text := "there is no server " + sanitize.Quoted(server, maxShown)
	if len(names) == 0 {
		text += ", and no other that this client may use"
	} else {
		text += "; there are: " + sanitize.Cut(strings.Join(names, ", "), maxShown)
	}
	f := fail(UnknownServer, text)
	f.Details = map[string]any{"servers": append([]string{}, names[:min(len(names), 100)]...)}
	return f
}
