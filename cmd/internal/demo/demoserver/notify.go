package demoserver

import (
	"encoding/json"
	"fmt"
	"slices"
)

// progress reports how far a call is.
type progress func(done, total int, message string)

// progress returns what reports under a token; it does nothing when nobody asked for it.
func (s *server) progress(token json.RawMessage) progress {
	if token == nil {
		return func(int, int, string) {}
	}
	return func(done, total int, message string) {
		s.notify("notifications/progress", struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress int             `json:"progress"`
			Total    int             `json:"total"`
			Message  string          `json:"message"`
		}{token, done, total, message})
	}
}

// logLevels are those of MCP, the least important first.
var logLevels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func severity(level string) int { return slices.Index(logLevels[:], level) }

func (s *server) setLevel(params json.RawMessage) (any, error) {
	var p struct{ Level string }
	if json.Unmarshal(params, &p) != nil || severity(p.Level) < 0 {
		return nil, fmt.Errorf("unknown log level %q", p.Level)
	}
	s.level = severity(p.Level)
	return struct{}{}, nil
}

// log sends a log message if the client wants that level.
func (s *server) log(level, text string) {
	if severity(level) < s.level {
		return
	}
	s.notify("notifications/message", struct {
		Level  string `json:"level"`
		Logger string `json:"logger"`
		Data   string `json:"data"`
	}{level, s.about.Name, text})
}
