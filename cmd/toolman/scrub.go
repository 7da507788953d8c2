package main

import (
	"fmt"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"toolman/jsonrpc/trace"
)

// A scrubbedCore keeps secrets out of the log. It looks at what can hold one: what servers have written, and why
// something failed. A server's name or a state is told even where an env table happens to hold the same word.
type scrubbedCore struct {
	zapcore.Core
	secrets *trace.Scrubber
}

// Check implements zapcore.Core.
func (c scrubbedCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// With implements zapcore.Core.
func (c scrubbedCore) With(fields []zapcore.Field) zapcore.Core {
	return scrubbedCore{c.Core.With(c.clean(fields)), c.secrets}
}

// Write implements zapcore.Core.
func (c scrubbedCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return c.Core.Write(e, c.clean(fields))
}

// loose are the fields with words of others.
var loose = []string{"text", "err", "tool"}

func (c scrubbedCore) clean(fields []zapcore.Field) []zapcore.Field {
	fields = slices.Clone(fields)
	for i, f := range fields {
		switch {
		case f.Type == zapcore.ErrorType:
			fields[i] = zap.String(f.Key, c.secrets.Text(fmt.Sprint(f.Interface)))
		case f.Type == zapcore.ByteStringType:
			fields[i] = zap.String(f.Key, c.secrets.Text(string(f.Interface.([]byte))))
		case f.Type == zapcore.StringType && slices.Contains(loose, f.Key):
			fields[i].String = c.secrets.Text(f.String)
		}
	}
	return fields
}
