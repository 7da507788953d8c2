// Package calllog keeps the latest calls of tools for GET /logs, and reads the logs of calls that
// servers write.
package calllog
