package engine

import (
	"fmt"
	"io"
	"slices"
	"time"

	"toolman/jsonrpc/trace/redact"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/asyncwriter"
)

// logQueue is how many bytes of the log may wait for a slow standard error.
const logQueue = 256 << 10

// logTime is for the last lines of the log: the machine may be busy, and who reads the log may read
// no more.
const logTime = time.Second

// OpenLog opens a log that is written to out without the secrets. Call close at the end.
func OpenLog(level string, out io.Writer, secrets []string) (log *zap.Logger, scrub *redact.Scrubber, close func(), err error) {
	least, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, nil, nil, cli.Usage(fmt.Errorf("unknown log level %q", level), "use debug, info, warn or error")
	}
	conf := zap.NewDevelopmentEncoderConfig()
	conf.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	conf.EncodeDuration = zapcore.StringDurationEncoder
	conf.ConsoleSeparator = " "
	queue := asyncwriter.NewText(out, logQueue, func(lost uint64) string {
		return fmt.Sprintf("toolman: %d log lines were dropped because they were not read in time\n", lost)
	})
	scrub = redact.NewScrubber(secrets)
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(conf), zapcore.AddSync(queue), least)
	return zap.New(scrubbedCore{core, scrub}).Named("toolman"), scrub, func() { queue.Close(logTime) }, nil
}

// A scrubbedCore keeps secrets out of the log. It scrubs only the fields that can hold one: the
// output of servers, and errors. A server's name or state is logged even if a variable in env has
// the same value.
type scrubbedCore struct {
	zapcore.Core
	secrets *redact.Scrubber
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
	return scrubbedCore{c.Core.With(c.scrub(fields)), c.secrets}
}

// Write implements zapcore.Core.
func (c scrubbedCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return c.Core.Write(e, c.scrub(fields))
}

// foreign are the names of string fields that hold text of servers or clients.
var foreign = []string{"text", "err", "tool"}

func (c scrubbedCore) scrub(fields []zapcore.Field) []zapcore.Field {
	fields = slices.Clone(fields)
	for i, f := range fields {
		switch {
		case f.Type == zapcore.ErrorType:
			fields[i] = zap.String(f.Key, c.secrets.Text(fmt.Sprint(f.Interface)))
		case f.Type == zapcore.ByteStringType:
			fields[i] = zap.String(f.Key, c.secrets.Text(string(f.Interface.([]byte))))
		case f.Type == zapcore.StringType && slices.Contains(foreign, f.Key):
			fields[i].String = c.secrets.Text(f.String)
		}
	}
	return fields
}
