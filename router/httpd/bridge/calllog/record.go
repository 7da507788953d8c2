package calllog

import (
	"bytes"
	"encoding/json"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
)

// A Code returns the error code of a call without an answer.
type Code func(*audit.Line) string

// UpstreamError is the code of an error that a server has answered.
const UpstreamError = "upstream_error"

// Records implements audit.Recorder. The bridge adds its own calls, which have a correlation ID.
func (l *Log) Records(line *audit.Line) bool {
	return line.Method == string(mcpwire.ToolsCall) && line.Correlation == ""
}

// Record implements audit.Recorder. A client that is asked for input repeats its call, which is
// then recorded.
func (l *Log) Record(line *audit.Line, content *audit.Content) {
	if line.Outcome == audit.InputRequired {
		return
	}
	c := &Call{Began: line.Time, Server: line.Server, Tool: line.Program.Tool, Principal: line.Program.Principal, Agent: line.Agent,
		Era: era(line.Program.Modern), Client: NewClient(line.Program.Name, line.Program.Version), Sent: line.RequestBytes > 0,
		Input: content.Arguments, InputCut: content.ArgumentsCut, Cut: content.AnswerCut}
	if line.Verdict == audit.Denied || line.Verdict == audit.Held {
		c.Asked = line.Program.Asked
	}
	switch {
	case content.Problem == "" && content.Error != nil:
		c.Error = upstreamError(content.Error)
	case content.Problem == "" && content.Result != nil:
		c.Result = content.Result
	case content.Problem != "" || !content.AnswerCut:
		c.Cut, c.Error = false, l.failure(line, content.Problem)
	}
	l.Add(c)
}

func era(modern bool) string {
	if modern {
		return "modern"
	}
	return "legacy"
}

// An failed is the error of a call, as in the answers of the bridge.
type failed struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// upstreamError returns the error of a call that its server has answered with an error.
func upstreamError(answered []byte) []byte {
	var said struct{ Message string }
	json.Unmarshal(answered, &said) // of another form: without its message
	f := failed{UpstreamError, "the server answered with an error", map[string]any{"error": json.RawMessage(answered)}}
	if said.Message != "" {
		f.Message += ": " + sanitize.Cut(said.Message, maxName)
	}
	return f.json()
}

// failure returns the error of a call that toolman has refused or failed.
func (l *Log) failure(line *audit.Line, problem string) []byte {
	f := failed{Message: problem}
	if l.o.Code != nil {
		f.Code = l.o.Code(line)
	}
	switch {
	case problem != "":
	case line.Outcome == audit.Cancelled:
		f.Message = "the client has cancelled the call"
	default:
		f.Message = "the call has failed: " + string(line.Outcome)
	}
	return f.json()
}

func (f *failed) json() []byte {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.Encode(f) // cannot fail: an answer has been scanned
	return bytes.TrimSpace(text.Bytes())
}

var _ audit.Recorder = (*Log)(nil)
