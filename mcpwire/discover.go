package mcpwire

import (
	"encoding/json"
	"errors"
	"fmt"

	"toolman/jsonrpc"
)

// AppendComplete appends the members with which a result of toolman's own starts in
// the modern era, each with a comma behind it. Those of lists and of resources may
// not be kept: an activation changes them.
func AppendComplete(dst []byte, method Method) []byte {
	dst = append(dst, completeMember...)
	if cacheable(method) {
		dst = append(append(dst, staleMember...), privateMember...)
	}
	return dst
}

// AppendDiscoverResult appends toolman's own answer to server/discover. Its
// capabilities are all that any upstream may turn out to have, as in initialize.
// toolman is toolman's version. A client may use any revision that is listed, so
// those with a handshake are not.
func AppendDiscoverResult(dst []byte, toolman, instructions string) []byte {
	dst = AppendComplete(append(dst, '{'), Discover)
	dst = appendModern(append(dst, `"supportedVersions":`...))
	dst = append(dst, `,"capabilities":{`+superset+`},"instructions":`...)
	dst = jsonrpc.AppendQuoted(dst, instructions)
	dst = append(dst, `,"_meta":{"`+KeyServerInfo+`":`...)
	dst = appendServerInfo(dst, toolman)
	return append(dst, "}}"...)
}

// discovered is what an upstream server answers to server/discover.
type discovered struct {
	SupportedVersions []string                   `json:"supportedVersions"`
	Capabilities      map[string]json.RawMessage `json:"capabilities"`
	Instructions      string                     `json:"instructions"`
	Meta              struct {
		ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
	} `json:"_meta"`
}

// ParseDiscoverResult reads an upstream's answer to server/discover as if it had
// been one to initialize: both say the same. The ProtocolVersion is the newest modern
// one that toolman speaks, too, or "" when there is none: such a server wants a
// handshake. An error says that this is no answer to server/discover.
func ParseDiscoverResult(result []byte) (InitializeResult, error) {
	var d discovered
	if err := json.Unmarshal(result, &d); err != nil {
		return InitializeResult{}, fmt.Errorf("the answer has a wrong shape: %w", err)
	}
	if d.SupportedVersions == nil {
		return InitializeResult{}, errors.New("the answer lists no supportedVersions")
	}
	r := InitializeResult{ProtocolVersion: Mutual(d.SupportedVersions, Modern), Capabilities: d.Capabilities, Instructions: d.Instructions}
	if json.Unmarshal(d.Meta.ServerInfo, &r.ServerInfo) != nil { // for display only
		r.ServerInfo.Name, r.ServerInfo.Version = "", ""
	}
	return r, nil
}

// OffersFlag reports whether the server declared a capability with a flag in it set,
// such as resources with subscribe.
func (r *InitializeResult) OffersFlag(capability, flag string) bool {
	var flags map[string]json.RawMessage
	return json.Unmarshal(r.Capabilities[capability], &flags) == nil && string(flags[flag]) == "true"
}

// ListedVersions returns the revisions that a server names in refusing another, as
// it does with code -32022 and as some older ones do with other codes. modern reports
// whether only a server of the modern era answers so.
func ListedVersions(err error) (listed []string, modern bool) {
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) {
		return nil, false
	}
	modern = refused.Code == CodeUnsupportedVersion
	var data struct{ Supported []string }
	if refused.Data == nil || json.Unmarshal(*refused.Data, &data) != nil {
		return nil, modern
	}
	return data.Supported, modern
}
