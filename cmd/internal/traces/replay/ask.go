package replay

import (
	"encoding/json"
	"fmt"

	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// An ask is a recorded request of the server.
type ask struct {
	call  *recording.Call
	asked bool // the new server has asked it, too
	late  bool // it has not, for longer than grace
}

// expects reports whether the new server is to ask this, and has not.
func (p *player) expects(a *ask) bool { return !a.asked && !a.late && p.wasPossible(a) }

// wasPossible reports whether the call in which the server asked was sent.
func (p *player) wasPossible(a *ask) bool {
	return a.call.Parent == nil || p.sent[a.call.Parent] != nil
}

// answer answers a request of the new server as the client of the recording did.
func (p *player) answer(e *dialog.Event) {
	if e.Method == string(mcpwire.Ping) {
		p.conn.Respond(e.ID, json.RawMessage("{}"), nil)
		return
	}
	a := p.askFor(e)
	if a == nil {
		p.report.Unasked = append(p.report.Unasked, "the server asked "+e.Method+", for which the recording has no answer")
		p.conn.Respond(e.ID, nil, refusal("the recording has no answer to "+e.Method))
		return
	}
	a.asked = true
	o := p.outcomes[a.call]
	o.State = Equal
	if o.Differences = p.options.Rules.Values("params", orEmpty(a.call.Request.Params), orEmpty(e.Params)); len(o.Differences) > 0 {
		o.State = Differs
	}
	switch r := a.call.Response; {
	case r == nil:
		o.Why = "the recording has no answer" // as there, it gets none
	case r.Problem() != "":
		o.State, o.Why = Failed, "the recorded answer cannot be sent: "+r.Problem()
		p.conn.Respond(e.ID, nil, refusal("the recorded answer cannot be sent"))
	default:
		p.conn.Respond(e.ID, r.Result, r.Error)
	}
}

// askFor returns the recorded request that a request of the new server is: best with the same
// params, and in a call that is open.
func (p *player) askFor(e *dialog.Event) *ask {
	var best *ask
	most := 0
	arguments := recording.Arguments(e.Params)
	for _, a := range p.asks {
		if a.asked || a.call.Request.Method != e.Method || !p.wasPossible(a) {
			continue
		}
		rank := 1
		if recording.Arguments(a.call.Request.Params) == arguments {
			rank += 2
		}
		if r := p.sent[a.call.Parent]; r != nil && !r.done {
			rank++
		}
		if rank > most {
			best, most = a, rank
		}
	}
	return best
}

func refusal(why string) json.RawMessage {
	return fmt.Appendf(nil, `{"code":-32603,"message":%s}`, jsonrpc.AppendQuoted(nil, "toolman trace replay: "+why))
}

func orEmpty(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}
