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

// An Envelope is where the params._meta of a message describes its sender. It holds places in the
// message that it was read from.
type Envelope struct {
	// Meta is the whole member _meta of params.
	Meta jsonrpc.Member
	// Version, Capabilities, ClientInfo and LogLevel are members of it that only modern clients
	// send. Token is the progress token of either era.
	Version, Capabilities, ClientInfo, LogLevel, Token jsonrpc.Member
}

// Claims reports whether the message says that it is of the modern era.
func (e *Envelope) Claims() bool { return e.Version.Present() }

// EnvelopeOf reads the envelope of a request or notification and, if it claims to be a modern one,
// checks it. Each error is a *Refusal to answer a request with; notifications are valid without an
// envelope, or with a bad one.
func EnvelopeOf(m *jsonrpc.Message) (e Envelope, err error) {
	err = e.Read(m)
	return e, err
}

// Read is EnvelopeOf into e.
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
	if err := tooLong("params._meta.progressToken", e.Token.Value, MaxID); err != nil {
		return err
	}
	if e.Claims() {
		return e.check(m)
	}
	return nil
}

// check says what is wrong with the envelope of a modern request (2026-07-28, Base protocol). The
// client's name is for display only and not checked.
func (e *Envelope) check(m *jsonrpc.Message) error {
	if !m.IsString(e.Version.Value) {
		return Invalid("params._meta: " + KeyVersion + " must be a string")
	}
	if version := m.Text(e.Version.Value); !slices.Contains(revisions[firstModern:], string(version)) {
		return unsupported(version)
	}
	if !m.IsObject(e.Capabilities.Value) {
		return Invalid("params._meta: " + KeyCapabilities + " must be there and be an object; {} declares none")
	}
	if err := cmp.Or(tooLong("params._meta: "+KeyCapabilities, e.Capabilities.Value, MaxDeclared),
		tooLong("params._meta: "+KeyClientInfo, e.ClientInfo.Value, MaxDeclared)); err != nil {
		return err
	}
	if level := e.LogLevel.Value; level.Present() && !slices.Contains(levels[:], string(m.Text(level))) {
		return Invalid("params._meta: " + KeyLogLevel + " must be debug, info, notice, warning, error, critical, alert or emergency")
	}
	return nil
}

// levels are the log levels, least important first.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LevelRank returns the importance of a log level, from 0 for debug; ok is false if there is no
// such level.
func LevelRank(level []byte) (rank int, ok bool) {
	for i, known := range levels {
		if known == string(level) {
			return i, true
		}
	}
	return 0, false
}

// LevelName returns the log level of a rank that LevelRank gave.
func LevelName(rank int) string { return levels[rank] }

// StripEnvelope appends edits that make a modern client's request one that a legacy server takes:
// some refuse the keys. An empty _meta is removed, too. The progress token stays where it is and
// may be edited in the same splice.
func StripEnvelope(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	return removeParamsMeta(edits, m, e.Meta, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
}

// Limits on what is kept of a client's messages, in bytes. The specification has none.
const (
	MaxID       = 1 << 10  // of an ID or a progress token
	MaxURI      = 8 << 10  // of a URI that is subscribed to
	MaxDeclared = 64 << 10 // of capabilities, and of clientInfo
	MaxRevision = 64       // of a protocolVersion
)

// CheckID returns an error if a request's ID is longer than MaxID.
func CheckID(m *jsonrpc.Message) error { return tooLong("id", m.ID, MaxID) }

// tooLong returns an error if a value is over its limit.
func tooLong(what string, at jsonrpc.Span, limit int) error {
	if size := at.Hi - at.Lo; size > limit {
		return Invalid(fmt.Sprintf("%s is %d bytes long; toolman remembers %d at most", what, size, limit))
	}
	return nil
}

// A Claim is an envelope ready to be put into requests. It describes a legacy client to a modern
// server, or toolman itself. One is made for each client and log level.
type Claim struct {
	inside []byte // the members, each with a comma behind it
	whole  []byte // "_meta":{…}, with a comma behind it
}

// NewClaim returns a claim of the newest revision. capabilities is a JSON object, nil for none;
// info is the client's Implementation object, nil if it is not known; level is the least important
// log level that the client wants, "" for no log messages.
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

// AppendParams appends the params of a request of toolman's own: the claim and further members, of
// which there may be none.
func (c *Claim) AppendParams(dst, members []byte) []byte {
	if len(members) == 0 {
		return fmt.Appendf(dst, "{%s}", c.whole[:len(c.whole)-1])
	}
	return fmt.Appendf(dst, "{%s%s}", c.whole, members)
}

// AddTo appends edits that put the claim into params._meta of a legacy client's request, which has
// the envelope e. Missing objects are added, and keys that the client used are replaced.
func (c *Claim) AddTo(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	edits = jsonrpc.AppendRemoval(edits, m.Frame, e.Meta.Value, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
	return addMeta(edits, m, e.Meta, c.inside, c.whole)
}

// addMeta appends edits that put members into params._meta, and add missing objects. meta is the
// present _meta; inside is the members, and whole is a member _meta of them, each with a comma
// behind it.
func addMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, inside, whole []byte) []jsonrpc.Edit {
	switch {
	case m.IsObject(meta.Value):
		return jsonrpc.AppendInsertion(edits, m.Frame, meta.Value, inside)
	case meta.Present(): // null, or what no receiver could read
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
	return edits // a list has no place for it
}

// RemoveFrom appends edits that remove members from the object inner. If nothing would be left in
// it, it appends none and reports that: inner itself can be removed.
func RemoveFrom(edits []jsonrpc.Edit, frame []byte, inner jsonrpc.Span, gone ...jsonrpc.Member) (out []jsonrpc.Edit, empty bool) {
	had := len(edits)
	edits = jsonrpc.AppendRemoval(edits, frame, inner, gone...)
	if len(edits) == had+1 && jsonrpc.Removed(edits[had], inner) {
		return edits[:had], true
	}
	return edits, false
}

// removeParamsMeta appends edits that remove members from params._meta, which is meta, and meta
// itself if nothing is left in it.
func removeParamsMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, gone ...jsonrpc.Member) []jsonrpc.Edit {
	edits, empty := RemoveFrom(edits, m.Frame, meta.Value, gone...)
	if empty {
		edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, meta)
	}
	return edits
}
