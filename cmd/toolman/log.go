package main

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"toolman/jsonrpc/asyncwriter"
	"toolman/jsonrpc/trace"
)

// logQueue is how many bytes of log may wait for a slow standard error.
const logQueue = 256 << 10

// openLog makes the log on standard error, without these secrets. Call done at the end.
func (a *app) openLog(secrets []string) (log *zap.Logger, done func(), err error) {
	level, err := zapcore.ParseLevel(a.logLevel)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("unknown log level %q", a.logLevel), "use debug, info, warn or error")
	}
	conf := zap.NewDevelopmentEncoderConfig()
	conf.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	conf.EncodeDuration = zapcore.StringDurationEncoder
	conf.ConsoleSeparator = " "
	var stderr io.Writer = a.stderr
	if a.progress != nil {
		stderr = a.progress
	}
	out := asyncwriter.NewText(stderr, logQueue, func(lost uint64) string {
		return fmt.Sprintf("toolman: %d log lines were dropped because they were not read in time\n", lost)
	})
	a.secrets = trace.NewScrubber(secrets)
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(conf), zapcore.AddSync(out), level)
	return zap.New(scrubbedCore{core, a.secrets}).Named("toolman"), func() { out.Close(50 * time.Millisecond) }, nil
}
