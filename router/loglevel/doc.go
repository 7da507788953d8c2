// Package loglevel sets the log levels that a client wants at its servers, and passes on the log
// messages that it wants.
//
// A legacy client sets one level with logging/setLevel. A request of a modern client names the
// level that it wants, which toolman sets at a legacy server before the request (2026-07-28,
// Logging). Requests wait a moment until servers have answered.
package loglevel
