// Package jsonschema validates JSON values against a JSON Schema, and reports where they are wrong:
// the arguments of a call against the inputSchema of its tool, and the messages of a trace against
// the official schemas of MCP.
//
// The schema of a tool is written by a server, which toolman does not trust. So the work is
// limited: a check that takes too many steps, or nests too deep, ends without a result, and the
// server has to validate the arguments. The same is true of schemas that cannot be used: those that
// refer to another document (nothing is ever fetched), of an unsupported draft, with a regular
// expression that is not valid in Go, or with keywords whose meaning depends on how a schema was
// reached ($dynamicRef, unevaluatedProperties). To refuse valid arguments is worse than to pass on
// invalid ones, which the server refuses. Formats (format) are not checked.
//
// The package does not use a library: google/jsonschema-go and santhosh-tekuri/jsonschema do not
// limit the work, and it takes more code to limit it from outside than to validate. Besides, the
// latter needs milliseconds and megabytes at each start of the program. The official test suite
// (json-schema-org/JSON-Schema-Test-Suite, drafts 2020-12 and 07) passes for all schemas that can
// be used. A fuzz test, and a test of package toolman/mcpwire/schema, compare the package with a
// library.
package jsonschema
