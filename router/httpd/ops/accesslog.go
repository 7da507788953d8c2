package ops

import (
	"go.uber.org/zap"

	"toolman/mcpwire/sanitize"
)

// longest is how much of a text of a client the log shows, in characters.
const longest = 200

// AccessLog writes a line for each request. It has neither queries nor headers but
// for the user agent, so no token.
func AccessLog(log *zap.Logger) func(*Request) {
	log = log.Named("http")
	return func(r *Request) {
		ce := log.Check(zap.InfoLevel, "request")
		if ce == nil {
			return
		}
		fields := []zap.Field{zap.String("method", sanitize.Cut(r.Method, longest)), zap.String("path", sanitize.Cut(r.Path, longest)), zap.Int("status", r.Status),
			zap.Int64("bytes", r.Out), zap.Duration("dur", r.Took), zap.String("agent", sanitize.Cut(r.Principal(), longest)),
			zap.String("session", r.Session), zap.String("user_agent", sanitize.Cut(r.UserAgent, longest)), zap.String("id", r.ID)}
		if id := r.Correlation(); id != "" {
			fields = append(fields, zap.String("correlation", sanitize.Cut(id, longest)))
		}
		ce.Write(fields...)
	}
}
