package main

import (
	"crypto/rand"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc/trace"
	"toolman/router"
	"toolman/router/audit"
)

// openAudit opens the audit log that the configuration asks for, if it does. Call done at the end.
func (a *app) openAudit(o *router.Options, c *config.Config, log *zap.Logger) (done func(), err error) {
	if c.AuditLog == "" {
		return func() {}, nil
	}
	file, err := trace.Open(c.AuditLog) // appends, as every run does
	if err != nil {
		return nil, usage(fmt.Errorf("the audit log cannot be written: %w", err), "let audit_log in "+c.Path+" name a file in a folder that exists and may be written to")
	}
	warn := func(err error) { log.Error("the audit log is not complete", zap.NamedError("err", err)) }
	w := audit.NewWriter(file, audit.Options{Arguments: c.AuditArguments, Scrub: a.secrets, Warn: warn})
	o.Audit = w
	return func() {
		if err := w.Close(flushTime); err != nil {
			warn(err)
		}
		file.Close()
	}, nil
}

// newRun names a run of toolman, in its trace and in the audit log.
func newRun() string { return strings.ToLower(rand.Text()[:6]) }
