// Package schema judges MCP conversations by the official JSON Schema of a revision, frame by
// frame.
//
//	checker, err := schema.Folder(dir, schema.Compile)("2025-11-25")
//	err = checker.Frame(schema.ToClient, line, "tools/list") // the method is needed for results alone
//
//	leg, err := schema.NewLeg("2026-07-28", schema.Folder(dir, schema.Compile), schema.Options{})
//	leg.Frame(schema.ToServer, line) // a whole conversation: it finds out what each answer answers
//	for _, v := range leg.Violations(schema.ToServer) { … }
//
// The definition for a frame is found by its method among those that the schema names for its
// sender, so a method that the revision does not have is a violation. A [Compiler] validates values
// by a definition: that of toolman, [Compile], or in tests a library, so that toolman is not judged
// by itself. The library also checks formats, as the official conformance suite does:
// "fs_file:///a" is no URI. Beyond the schema, which is open almost everywhere, a frame must not
// carry what belongs to the other era only (stray.go), and a Leg checks what one frame does not
// show: answers to what was asked, progress and log messages of requests that wanted them,
// subscriptions (listen.go).
//
// The schemas are not part of toolman.
package schema
