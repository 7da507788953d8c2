package config

import "strings"

// auditLog reads which file the audit log is, absolute, and whether it holds arguments. "" is no log.
func (d *decoder) auditLog(t table) (path string, arguments bool) {
	const example = `"audit.jsonl"`
	written, ok := t.text("audit_log", example)
	t.note("audit_log", filledForm())
	t.needWith("audit_arguments", "audit_log")
	arguments = t.boolean("audit_arguments", false)
	switch n := t.values["audit_log"]; {
	case ok && strings.TrimSpace(written) == "":
		t.outside("audit_log", "name a file, or leave it out for no audit log")
	case ok:
		path = scope{d: d, line: n.line, key: "audit_log"}.path(written, "name a file, or leave it out")
	case t.has("audit_arguments") && !t.has("audit_log"):
		d.fail(t.values["audit_arguments"].line, "write "+d.write("audit_log", example)+" too, or take it out", "audit_arguments is given, and no audit_log for them")
	}
	return path, arguments
}
