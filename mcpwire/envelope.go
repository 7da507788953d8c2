package mcpwire

import (
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

// An Envelope is where the params._meta of a message says who sends it and what
// they can do. It holds places in the message it was read from.
type Envelope struct {
	// Meta is the whole member _meta of params.
	Meta jsonrpc.Member
	// Version, Capabilities, ClientInfo and LogLevel are the members of it that
	// only modern clients send; Token is the progress token of either era.
	Version, Capabilities, ClientInfo, LogLevel, Token jsonrpc.Member
}

// Claims reports whether the message says that it is of the modern era.
func (e *Envelope) Claims() bool { return e.Version.Present() }

// EnvelopeOf reads the envelope of a request or notification and, if it claims to
// be a modern one, checks it. Each error is a *Refusal to answer a request with; a
// notification can do without an envelope, or with a bad one.
func EnvelopeOf(m *jsonrpc.Message) (e Envelope, err error) {
	err = e.Read(m)
	return e, err
}

// Read is EnvelopeOf into e, whatever that was before.
func (e *Envelope) Read(m *jsonrpc.Message) error {
	*e = Envelope{}
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return invalid(err.Error())
	}
	e.Meta = meta
	if !m.IsObject(meta.Value) {
		return nil
	}
	var found [len(envelopeKeys)]jsonrpc.Member
	if err := m.Find(meta.Value, envelopeKeys[:], found[:]); err != nil {
		return invalid(err.Error())
	}
	e.Version, e.Capabilities, e.ClientInfo, e.LogLevel = found[0], found[1], found[2], found[3]
	if isID(m, found[4].Value) {
		e.Token = found[4]
	}
	if err := tooLong("params._meta.progressToken", e.Token.Value.Hi-e.Token.Value.Lo, MaxID); err != nil {
		return err
	}
	if e.Claims() {
		return e.check(m)
	}
	return nil
}

// check says what is wrong with the envelope of a modern request (2026-07-28,
// Base protocol). The client's name is for display only and never a reason.
func (e *Envelope) check(m *jsonrpc.Message) error {
	if !m.IsString(e.Version.Value) {
		return invalid("params._meta: " + KeyVersion + " must be a string")
	}
	if version := m.Text(e.Version.Value); !slices.Contains(revisions[firstModern:], string(version)) {
		return unsupported(version)
	}
	if !m.IsObject(e.Capabilities.Value) {
		return invalid("params._meta: " + KeyCapabilities + " must be there and be an object; {} declares none")
	}
	if err := tooLong("params._meta: "+KeyCapabilities, e.Capabilities.Value.Hi-e.Capabilities.Value.Lo, MaxDeclared); err != nil {
		return err
	}
	if err := tooLong("params._meta: "+KeyClientInfo, e.ClientInfo.Value.Hi-e.ClientInfo.Value.Lo, MaxDeclared); err != nil {
		return err
	}
	if level := e.LogLevel.Value; level.Present() && !slices.Contains(levels[:], string(m.Text(level))) {
		return invalid("params._meta: " + KeyLogLevel + " must be debug, info, notice, warning, error, critical, alert or emergency")
	}
	return nil
}

// levels are the log levels, least important first.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LevelRank returns how important a log level is, from 0 for debug; ok is false
// when there is no such level.
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

// StripEnvelope appends edits that make a modern client's request one that a
// legacy server takes: some of those servers refuse the keys. _meta goes, too,
// when nothing is left in it. The progress token stays where it is and may be
// edited in the same splice.
func StripEnvelope(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	return removeParamsMeta(edits, m, e.Meta, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
}
