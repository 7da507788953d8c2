package mcpwire

import (
	"cmp"
	"fmt"
	"slices"

	"toolman/jsonrpc"
)

// Keys of _meta that the modern era reserves (2026-07-28, _meta).
const (
	KeyVersion      = "io.modelcontextprotocol/protocolVersion"
	KeyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	KeyClientInfo   = "io.modelcontextprotocol/clientInfo"
	KeyLogLevel     = "io.modelcontextprotocol/logLevel"
	KeyServerInfo   = "io.modelcontextprotocol/serverInfo"
	KeySubscription = "io.modelcontextprotocol/subscriptionId"
)

var envelopeKeys = [...]string{KeyVersion, KeyCapabilities, KeyClientInfo, KeyLogLevel, "progressToken"}

// An Envelope holds the members of params._meta that describe the sender of a message, as places in
// the message that it was read from.
type Envelope struct {
	// Meta is the whole member _meta of params.
	Meta jsonrpc.Member
	// Version, Capabilities, ClientInfo and LogLevel are members of Meta that only modern clients
	// send. Token is the progress token, which both eras have.
	Version, Capabilities, ClientInfo, LogLevel, Token jsonrpc.Member
}

// Claims reports whether the message claims to be of the modern era.
func (e *Envelope) Claims() bool { return e.Version.Present() }

// Read reads the envelope of a request or notification. It checks one that claims to be modern.
// Each error is a *Refusal, the response to a request. A notification is valid without an envelope,
// or with a bad one.
func (e *Envelope) Read(m *jsonrpc.Message) error {
	*e = Envelope{}
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return Invalid(err.Error())
	}
	e.Meta = meta
	if !m.IsObject(meta.Value) {
		return nil
	}
	var found [len(envelopeKeys)]jsonrpc.Member
	if err := m.Find(meta.Value, envelopeKeys[:], found[:]); err != nil {
		return Invalid(err.Error())
	}
	e.Version, e.Capabilities, e.ClientInfo, e.LogLevel = found[0], found[1], found[2], found[3]
	if m.IsID(found[4].Value) {
		e.Token = found[4]
	}
	if err := tooLong("params._meta.progressToken", e.Token.Value, maxID); err != nil {
		return err
	}
	if e.Claims() {
		return e.check(m)
	}
	return nil
}

// check checks the envelope of a modern request (2026-07-28, Base protocol), except the client's
// name, which is for display only.
func (e *Envelope) check(m *jsonrpc.Message) error {
	if !m.IsString(e.Version.Value) {
		return Invalid("params._meta: " + KeyVersion + " must be a string")
	}
	if version := m.Text(e.Version.Value); !slices.Contains(revisions[firstModern:], string(version)) {
		return unsupported(version)
	}
	if !m.IsObject(e.Capabilities.Value) {
		return Invalid("params._meta: " + KeyCapabilities + " must be an object; {} declares no capabilities")
	}
	if err := cmp.Or(tooLong("params._meta: "+KeyCapabilities, e.Capabilities.Value, maxDeclared),
		tooLong("params._meta: "+KeyClientInfo, e.ClientInfo.Value, maxDeclared)); err != nil {
		return err
	}
	if level := e.LogLevel.Value; level.Present() && !slices.Contains(levels[:], string(m.Text(level))) {
		return Invalid("params._meta: " + KeyLogLevel + " must be debug, info, notice, warning, error, critical, alert or emergency")
	}
	return nil
}

// levels are the log levels, least important first.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LevelRank returns the importance of a log level, from 0 for debug. ok is false if there is no
// such level.
func LevelRank(level []byte) (rank int, ok bool) {
	rank = slices.Index(levels[:], string(level))
	return max(0, rank), rank >= 0
}

// LevelName returns the log level of a rank that LevelRank has returned.
func LevelName(rank int) string { return levels[rank] }

// StripEnvelope appends edits that remove the keys of a modern client from a request, because some
// legacy servers refuse them. It also removes a _meta that becomes empty. The progress token stays
// where it is and may be edited in the same splice.
func StripEnvelope(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	return removeParamsMeta(edits, m, e.Meta, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
}

// Limits on the parts of a client's messages that toolman keeps, in bytes. The specification has no
// limits.
const (
	MaxURI      = 8 << 10  // of a URI that is subscribed to
	maxID       = 1 << 10  // of an ID or a progress token
	maxDeclared = 64 << 10 // of capabilities, and of clientInfo
	maxRevision = 64       // of a protocolVersion
)

// CheckID returns an error if a request's ID is too long.
func CheckID(m *jsonrpc.Message) error { return tooLong("id", m.ID, maxID) }

// tooLong returns an error if a value is over its limit.
func tooLong(what string, at jsonrpc.Span, limit int) error {
	if size := at.Hi - at.Lo; size > limit {
		return Invalid(fmt.Sprintf("%s is %d bytes long; the limit is %d", what, size, limit))
	}
	return nil
}

// A Claim is an envelope ready to be inserted into requests. It describes a legacy client, or
// toolman itself, to a modern server. There is one for each client and log level.
type Claim struct {
	inside []byte // the members, each with a comma behind it
	whole  []byte // "_meta":{…}, with a comma behind it
}

// NewClaim returns a claim of the newest revision. capabilities is a JSON object, or nil for none.
// info is the client's Implementation object, or nil if it is not known. level is the least
// important log level that the client wants, or "" for no log messages.
func NewClaim(capabilities, info []byte, level string) *Claim {
	if capabilities == nil {
		capabilities = []byte("{}")
	}
	members := fmt.Appendf(nil, `"%s":"%s","%s":%s`, KeyVersion, Newest, KeyCapabilities, capabilities)
	if info != nil {
		members = fmt.Appendf(members, `,"%s":%s`, KeyClientInfo, info)
	}
	if level != "" {
		members = fmt.Appendf(members, `,"%s":%s`, KeyLogLevel, quote(level))
	}
	return &Claim{inside: fmt.Appendf(nil, "%s,", members), whole: fmt.Appendf(nil, `"_meta":{%s},`, members)}
}

// quote returns text as a JSON string.
func quote[T string | []byte](text T) []byte { return jsonrpc.AppendQuoted(nil, text) }

// AppendParams appends the params of one of toolman's own requests: the claim and further members,
// if any.
func (c *Claim) AppendParams(dst, members []byte) []byte {
	if len(members) == 0 {
		return fmt.Appendf(dst, "{%s}", c.whole[:len(c.whole)-1])
	}
	return fmt.Appendf(dst, "{%s%s}", c.whole, members)
}

// AddTo appends edits that put the claim into params._meta of a legacy client's request, which has
// the envelope e. They add missing objects, and replace keys that the client used.
func (c *Claim) AddTo(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	edits = jsonrpc.AppendRemoval(edits, m.Frame, e.Meta.Value, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
	return addMeta(edits, m, e.Meta, c.inside, c.whole)
}

// addMeta appends edits that put members into params._meta, and add missing objects. meta is the
// present _meta, inside is the members, and whole is a member _meta that holds them, each with a
// comma behind it.
func addMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, inside, whole []byte) []jsonrpc.Edit {
	switch {
	case m.IsObject(meta.Value):
		return jsonrpc.AppendInsertion(edits, m.Frame, meta.Value, inside)
	case meta.Present(): // null, or a value that no receiver could read
		return append(edits, jsonrpc.Edit{Span: meta.Value, New: whole[len(`"_meta":`) : len(whole)-1]})
	case m.IsObject(m.Params):
		return jsonrpc.AppendInsertion(edits, m.Frame, m.Params, whole)
	}
	params := append(append([]byte(`,"params":{`), whole[:len(whole)-1]...), '}')
	switch {
	case !m.Params.Present():
		return append(edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: m.Method.Hi, Hi: m.Method.Hi}, New: params})
	case string(m.Bytes(m.Params)) == "null":
		return append(edits, jsonrpc.Edit{Span: m.Params, New: params[len(`,"params":`):]})
	}
	return edits // params is a list
}

// RemoveFrom appends edits that remove members from the object inner. If that would empty the
// object, RemoveFrom appends none and returns true: the caller can remove inner itself.
func RemoveFrom(edits []jsonrpc.Edit, frame []byte, inner jsonrpc.Span, gone ...jsonrpc.Member) (out []jsonrpc.Edit, empty bool) {
	had := len(edits)
	edits = jsonrpc.AppendRemoval(edits, frame, inner, gone...)
	if len(edits) == had+1 && jsonrpc.Removed(edits[had], inner) {
		return edits[:had], true
	}
	return edits, false
}

// removeParamsMeta appends edits that remove members from meta, which is params._meta, and meta
// itself if it becomes empty.
func removeParamsMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, gone ...jsonrpc.Member) []jsonrpc.Edit {
	edits, empty := RemoveFrom(edits, m.Frame, meta.Value, gone...)
	if empty {
		edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, meta)
	}
	return edits
}
