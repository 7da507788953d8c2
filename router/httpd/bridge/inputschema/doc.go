// Package inputschema validates the arguments of a call against the inputSchema of its tool, and
// reports where they are wrong.
//
// A schema is written by a server, which toolman does not trust. So the work is limited: a check
// that takes too many steps, or nests too deep, ends without a result, and the server has to
// validate the arguments. The same is true of schemas that cannot be used: those that refer to
// another document (nothing is ever fetched), of an unsupported draft, with a regular expression
// that is not valid in Go, or with keywords whose meaning depends on how a schema was reached
// ($dynamicRef, unevaluatedProperties). To refuse valid arguments is worse than to pass on invalid
// ones, which the server refuses.
//
// The package does not use a library: google/jsonschema-go and santhosh-tekuri/jsonschema do not
// limit the work, and it takes more code to limit it from outside than to validate. The official
// test suite (json-schema-org/JSON-Schema-Test-Suite, drafts 2020-12 and 07) passes for all schemas
// that can be used, and a fuzz test compares the package with a library.
package inputschema
