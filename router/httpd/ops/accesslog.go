package ops

import (
	"strings"
	"unicode"

	"go.uber.org/zap"
)

// longest is how much of a text of a client the log shows, in bytes.
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
		fields := []zap.Field{zap.String("method", shown(r.Method)), zap.String("path", shown(r.Path)), zap.Int("status", r.Status),
			zap.Int64("bytes", r.Out), zap.Duration("dur", r.Took), zap.String("agent", shown(r.Principal())),
			zap.String("session", r.Session), zap.String("user_agent", shown(r.UserAgent)), zap.String("id", r.ID)}
		if id := r.Correlation(); id != "" {
			fields = append(fields, zap.String("correlation", shown(id)))
		}
		ce.Write(fields...)
	}
}

// shown is text of a client without what could change a terminal or forge a line, and
// not too long.
func shown(text string) string {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
