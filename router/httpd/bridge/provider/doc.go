// Package provider converts tools to the formats of model APIs, and calls and results between these
// formats and MCP. It does no I/O.
//
// A tool has the same name for all providers, mcp__SERVER__TOOL, within the limits of all: 64
// letters, digits, - and _ (see Name). If a provider does not accept a schema of a server, the
// schema is changed so that it allows more: the bridge validates arguments against the original.
// Only a schema without a type becomes stricter for Gemini, which requires one: it becomes a
// string.
//
//	modern ─▶ object ──────▶ OpenAI, xAI, Anthropic
//	modern ─▶ gemini
//
// Texts in quotes are errors of the providers, as users have reported them: no test can use the
// providers. If a provider refuses one tool, it refuses all.
package provider
