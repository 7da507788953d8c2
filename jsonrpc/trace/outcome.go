package trace

import "encoding/json"

// Failed reports whether r is a response that is a failure of its call. An answer of toolman itself
// is one if it is an error, as when toolman refuses a call.
func (r *Record) Failed() bool {
	return IsFailure(r.Status) || r.Status == StatusLocal && (r.Code != 0 || r.Problem() != "")
}

// Problem returns the error message of a response. Only the message itself shows whether an answer
// of toolman is an error.
func (r *Record) Problem() string {
	if !IsFailure(r.Status) && r.Status != StatusLocal {
		return ""
	}
	var m struct {
		Error  struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if json.Unmarshal(r.Msg, &m) != nil || !m.Result.IsError || len(m.Result.Content) == 0 {
		return m.Error.Message
	}
	var own struct{ Error string } // in results of toolman's own tools
	text := m.Result.Content[0].Text
	if json.Unmarshal([]byte(text), &own) == nil && own.Error != "" {
		return own.Error
	}
	return text
}
