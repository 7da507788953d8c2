// Package auditlog reads audit logs (package router/audit) with the files that they were rotated
// to. Its readers count what is missing or cannot be read: a log of another version, or a line that
// was cut off, does not stop them.
package auditlog
