package provider

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	fixtures "toolman/fixtures/jsonschema"
)

func TestFirstSentence(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""}, {"No stop", "No stop"}, {"One. Two.", "One."}, {"One! Two?", "One!"}, {"Sure?! Yes.", "Sure?!"},
		{"Version 3.5 of it. Two.", "Version 3.5 of it."},
		{"A file, e.g. README. Two.", "A file, e.g. README."}, {"A file (e.g. Makefile). Two.", "A file (e.g. Makefile)."}, {"A file (i.e. B). Two.", "A file (i.e. B)."},
		{"As of J. Smith et al. Paper. Two.", "As of J. Smith et al. Paper."}, {"(cf. Note) here. Two.", "(cf. Note) here."},
		{"In the U.S. Government. Two.", "In the U.S. Government."},
		{"Files, folders, etc. of it. Two.", "Files, folders, etc. of it."}, {"Files, folders, etc. Two.", "Files, folders, etc."},
		{"Wait... then go. Two.", "Wait... then go."}, {"Wait… Two.", "Wait…"},
		{`He says "stop." Two.`, `He says "stop."`}, {"(All of it.) Two.", "(All of it.)"}, {"**One.** Two.", "**One.**"},
		{"a.b.c and de.f. Two.", "a.b.c and de.f."}, {"At most 10. Two.", "At most 10."}, {"1. One. 2. Two.", "1. One."},
		{"One\nline. Two.", "One line."}, {"One\n\nTwo.", "One"}, {"One\r\n \t\r\nTwo.", "One"}, {"One of:\n- a\n- b", "One of: - a - b"},
		{"  One.  Two.", "One."}, {"ファイルを読む。次の文。", "ファイルを読む。"}, {"读取文件！下一句。", "读取文件！"}, {"「読む。」次。", "「読む。」"},
		{"One.Two three", "One.Two three"}, {"Use https://example.com/a.b?c=d now. Two.", "Use https://example.com/a.b?c=d now."},
		{"One.\u00a0Two.", "One."}, {". Two.", "."},
	} {
		if got := firstSentence(tt.text, maxSlim); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestShortened(t *testing.T) {
	sentence := strings.Repeat("Word ", 19) + "end. " // 100 characters
	for _, tt := range []struct{ text, want string }{
		{"Short. And whole.", "Short. And whole."}, {"Two\n\n  lines.\n", "Two lines."},
		{strings.Repeat(sentence, 3), strings.TrimSpace(strings.Repeat(sentence, 3))},
		{strings.Repeat(sentence, 5), strings.TrimSpace(strings.Repeat(sentence, 3))},
		{sentence + "Two. " + strings.Repeat("X", 400), sentence + "Two."},
		{strings.Repeat("word ", 100), strings.TrimSpace(strings.Repeat("word ", 59)) + "…"},
		{strings.Repeat("x", 400), strings.Repeat("x", 299) + "…"},
		{"読む " + strings.Repeat("あ", 400), "読む " + strings.Repeat("あ", 296) + "…"},
		{strings.Repeat("é", 300), strings.Repeat("é", 300)},
		{strings.Repeat("🦜", 301), strings.Repeat("🦜", 299) + "…"},
		{strings.Repeat("ファイルを読む。", 50), strings.Repeat("ファイルを読む。", 37)},
		{strings.Repeat(" \n", 1000) + "One.", "One."},
	} {
		got := shortened(tt.text, maxSlim)
		if got != tt.want || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxSlim {
			t.Errorf("%.80q…: got %d characters, %q, want %q", tt.text, utf8.RuneCountInString(got), got, tt.want)
		}
	}
}

// hard has what looks like notes and decides what is valid, and notes in all places.
const hard = `{"type":"object","title":"T","description":"Root. More.","$comment":"c",
"properties":{"title":{"type":"string","title":"The title","description":"A title. It is shown."},"examples":{"type":"array","examples":[["a"]],"items":{"type":"string","title":"One"}},
"default":{"type":"string","default":"fast"},"description":{"type":"string","deprecated":true},"$comment":{"type":"integer"},
"must":{"type":"integer","default":5},"none":{"anyOf":[{"type":"string","title":"S"},{"type":"null"}],"default":null},"empty":{"type":"array","default":[]},
"off":{"type":"boolean","default":false},"on":{"type":"boolean","default":true},"zero":{"type":"integer","default":0},
"said":{"type":"integer","description":"How many (1-20, default 10)","default":10},"other":{"type":"integer","description":"How many, default 100","default":10},"ten":{"type":"integer","description":"How many of 10","default":10},
"kind":{"enum":[{"title":"a","examples":[1]},"b"]},"which":{"const":{"description":"c. d.","default":1}},"one":{"$ref":"#/$defs/one"},
"deep":{"oneOf":[{"allOf":[{"properties":{"x":{"not":{"title":"N","type":"string"}}}}]},{"type":"integer"}],"if":{"title":"I","minimum":3},"then":{"title":"T","maximum":9}}},
"patternProperties":{"^title":{"title":"P"}},"$defs":{"one":{"title":"One","type":"string","description":"De. Ee."},"title":{"title":"T"}},
"additionalProperties":{"title":"A","type":"string"},"required":["must"]}`

func TestSlimLeavesOutWhatTellsLittle(t *testing.T) {
	for level, want := range map[Level]string{
		Slim: `{"$defs":{"one":{"description":"De.","type":"string"},"title":{}},"additionalProperties":{"type":"string"},"description":"Root.","patternProperties":{"^title":{}},"properties":{` +
			`"$comment":{"type":"integer"},"deep":{"if":{"minimum":3},"oneOf":[{"allOf":[{"properties":{"x":{"not":{"type":"string"}}}}]},{"type":"integer"}],"then":{"maximum":9}},` +
			`"default":{"default":"fast","type":"string"},"description":{"type":"string"},"empty":{"type":"array"},"examples":{"items":{"type":"string"},"type":"array"},` +
			`"kind":{"enum":[{"examples":[1],"title":"a"},"b"]},"must":{"type":"integer"},"none":{"anyOf":[{"type":"string"},{"type":"null"}]},"off":{"type":"boolean"},"on":{"default":true,"type":"boolean"},` +
			`"one":{"$ref":"#/$defs/one"},"other":{"default":10,"description":"How many, default 100","type":"integer"},"said":{"description":"How many (1-20, default 10)","type":"integer"},"ten":{"default":10,"description":"How many of 10","type":"integer"},` +
			`"title":{"description":"A title.","type":"string"},"which":{"const":{"default":1,"description":"c. d."}},"zero":{"default":0,"type":"integer"}},"required":["must"],"type":"object"}`,
		Max: `{"$defs":{"one":{"type":"string"},"title":{}},"additionalProperties":{"type":"string"},"patternProperties":{"^title":{}},"properties":{` +
			`"$comment":{"type":"integer"},"deep":{"if":{"minimum":3},"oneOf":[{"allOf":[{"properties":{"x":{"not":{"type":"string"}}}}]},{"type":"integer"}],"then":{"maximum":9}},` +
			`"default":{"type":"string"},"description":{"type":"string"},"empty":{"type":"array"},"examples":{"items":{"type":"string"},"type":"array"},` +
			`"kind":{"enum":[{"examples":[1],"title":"a"},"b"]},"must":{"type":"integer"},"none":{"anyOf":[{"type":"string"},{"type":"null"}]},"off":{"type":"boolean"},"on":{"type":"boolean"},` +
			`"one":{"$ref":"#/$defs/one"},"other":{"type":"integer"},"said":{"type":"integer"},"ten":{"type":"integer"},` +
			`"title":{"type":"string"},"which":{"const":{"default":1,"description":"c. d."}},"zero":{"type":"integer"}},"required":["must"],"type":"object"}`,
	} {
		slim := tool(hard).Slim(level)
		if string(slim.Schema) != want {
			t.Errorf("slim=%v: got\n%s\nwant\n%s", level, slim.Schema, want)
		}
		if (slim.Description == "") != (level == Max) || utf8.RuneCountInString(slim.Description) > maxSlim {
			t.Errorf("slim=%v: the description is %q", level, slim.Description)
		}
	}
	if whole := tool(hard).Slim(Whole); string(whole.Schema) != hard || string(whole.Raw) != string(tool(hard).Raw) {
		t.Error("slim=false changes something")
	}
}

func TestSlimChangesNothingAboutWhatIsValid(t *testing.T) {
	more := []string{
		hard,
		// draft 7, in which these keywords have another meaning or none
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}]}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"title":"T"}},"unevaluatedProperties":false}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":{"$ref":"#/definitions/b"}},"definitions":{"b":{"required":["b"]}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}}`,
		// properties that additionalProperties has allowed are not unevaluated
		`{"type":"object","allOf":[{"additionalProperties":true}],"unevaluatedProperties":false,"properties":{"a":{"type":"string"}}}`,
		`{"$id":"https://example.com/s","type":"object","properties":{"a":{"$ref":"s#named"}},"$defs":{"x":{"$anchor":"named","type":"string","title":"X"}}}`,
	}
	for i, schema := range append(schemasOfServers[:11:11], more...) {
		for _, level := range []Level{Slim, Max} {
			slim := tool(schema).Slim(level)
			valid, invalid, err := fixtures.Alike([]byte(schema), slim.Schema)
			if err != nil {
				t.Errorf("schema %d, slim=%v: %v\n%s", i, level, err, slim.Schema)
			}
			if strings.Contains(schema, `"a"`) && (valid == 0 || invalid == 0) && i > 8 {
				t.Errorf("schema %d: %d values are valid, %d are not", i, valid, invalid)
			}
			if len(slim.Schema) > len(schema) || !json.Valid(slim.Raw) {
				t.Errorf("schema %d has become %s", i, slim.Schema)
			}
		}
	}
}
