package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func cut(line string) string {
	return string(cutLine(nil, bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(line)), 16), 7))
}

func TestCutLine(t *testing.T) {
	long := strings.Repeat("x", 3*maxValue)
	for _, tt := range []struct{ line, want string }{
		{`{}`, `{"cut":true,"at":7}`},
		{` {"a":1, "b" : [1, {"c":"}"}] ,"d":"\"}"}`, `{"a":1,"b":[1, {"c":"}"}],"d":"\"}","cut":true,"at":7}`},
		{`{"msg":{"a":"` + long + `"},"n":-1.5e3}`, `{"n":-1.5e3,"cut":true,"at":7}`},
		{`{"text":"` + long + `","n":true}`, `{"text":"` + long[:maxValue-1] + `","n":true,"cut":true,"at":7}`},
		{`{"` + long + `":1,"n":null}`, `{"n":null,"cut":true,"at":7}`},
		{`{"a":1` + strings.Repeat("0", maxValue) + `,"b":2}`, `{"b":2,"cut":true,"at":7}`},
		{`{"a":` + "\r\n" + `1}`, `{"a":1,"cut":true,"at":7}`},
		{"{\"a\":[1,\r\n2]}", `{"a":[1,  2],"cut":true,"at":7}`},
		{`no "JSON"` + "\x1b", `{"t":"invalid","text":"no \"JSON\"\u001b","cut":true,"at":7}`},
		{``, `{"t":"invalid","text":"","cut":true,"at":7}`},
		{`{"a":1,"b":"never ends`, `{"a":1,"cut":true,"at":7}`},
	} {
		if got := cut(tt.line); got != tt.want {
			t.Errorf("%.100q: got %.300q\nwant %.300q", tt.line, got, tt.want)
		}
	}
}

// Wherever a string is cut, a string is left.
func TestCutStringsAreWhole(t *testing.T) {
	for _, unit := range []string{"x", `\n`, `\u00fc`, `\ud83d\ude00`, "ü", "€", "😀", `\\`, `\"`} {
		for shift := range 14 {
			line := `{"text":"` + strings.Repeat("y", shift) + strings.Repeat(unit, maxValue) + `"}`
			var want, got map[string]any
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(cut(line)), &got); err != nil {
				t.Errorf("%s: %v in %s", unit, err, cut(line))
				continue
			}
			text, _ := got["text"].(string)
			if !strings.HasPrefix(want["text"].(string), text) || !utf8.ValidString(text) || len(text) < maxValue/14 {
				t.Errorf("%s: %q is no start of the text", unit, text)
			}
		}
	}
}

// Members that are short are kept, of whatever kind, around those of every length.
func TestCutKeepsShortMembers(t *testing.T) {
	for n := maxValue - 20; n < maxValue+20; n++ {
		line := fmt.Sprintf(`{"a":{"b":[1,"c"]},"long":"%s","d":"e\"","longer":[%q],"f":0.5}`, strings.Repeat("x", n), strings.Repeat("y", n))
		var all, got map[string]any
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(cut(line)), &got); err != nil {
			t.Fatalf("%v in %s", err, cut(line))
		}
		for _, key := range []string{"a", "d", "f"} {
			if !reflect.DeepEqual(got[key], all[key]) {
				t.Errorf("%d: %s is %v, want %v", n, key, got[key], all[key])
			}
		}
	}
}

func FuzzCutLine(f *testing.F) {
	f.Add(`{"a":1,"b":"`+strings.Repeat(`ü\n`, 1000)+`"}`, int64(1))
	f.Add(`{"a":{"b":[}]`, int64(0))
	f.Fuzz(func(t *testing.T, line string, at int64) {
		out := cutLine(nil, bufio.NewReader(strings.NewReader(line)), at)
		if len(out) > maxCut+6*maxValue+100 {
			t.Errorf("%d bytes", len(out))
		}
		if json.Valid([]byte(line)) && !json.Valid(out) {
			t.Errorf("%q became %q", line, out)
		}
	})
}
