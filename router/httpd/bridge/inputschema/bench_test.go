package inputschema

import "testing"

// BenchmarkCheck is what a call through the bridge pays for.
func BenchmarkCheck(b *testing.B) {
	s, err := Compile([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["path"],"additionalProperties":false,
		"properties":{"path":{"type":"string","minLength":1},"edits":{"type":"array","items":{"type":"object","required":["oldText"],
		"properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}},"dryRun":{"type":"boolean","default":false}}}`))
	if err != nil {
		b.Fatal(err)
	}
	for name, arguments := range map[string]string{
		"right": `{"path":"/a/b","edits":[{"oldText":"x","newText":"y"}],"dryRun":true}`,
		"wrong": `{"path":"/a/b","edits":[{"oldText":"x","newText":1}],"dryRun":true}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Check([]byte(arguments))
			}
		})
	}
}
