package jsonrpc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// templated are frames that a Scanner records.
var templated = []string{
	call100,
	`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"n":-1.5e3,"s":"\"é\u0041","deep":[1,{"a":""},null]},"_meta":{"progressToken":7}}}`,
	`{"jsonrpc":"2.0","id":10000001,"result":{"content":[{"type":"text","text":"said \"found\"\nit"}],"isError":false}}`,
	`{ "id" : 12 , "result" : { } , "jsonrpc" : "2.0" }`,
	`{"error":{"code":-32601,"message":"no"},"id":0,"jsonrpc":"2.0"}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"\u0061":"2.0"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1,"2"]}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
}

// trained returns a Scanner that has a template of a frame.
func trained(t testing.TB, frame string) *Scanner {
	t.Helper()
	c := new(Scanner)
	var m Message
	for range recordAt {
		if err := c.Scan([]byte(frame), &m); err != nil {
			t.Fatalf("%s: %v", frame, err)
		}
	}
	return c
}

// same fails the test if a Scanner does not say of a frame what Scan does.
func same(t testing.TB, c *Scanner, frame []byte) {
	t.Helper()
	var got, want Message
	err, wantErr := c.Scan(frame, &got), Scan(frame, &want)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%q after %q: got %v, want %v", frame, c.template.text, err, wantErr)
	}
	if got.Template != (TemplateID{}) && got.Template != (TemplateID{c, c.recorded}) {
		t.Fatalf("%q has the template %v", frame, got.Template)
	}
	got.Template = TemplateID{} // which only a Scanner tells
	for _, m := range []*Message{&got, &want} {
		clear(m.params[max(0, m.nparams):]) // what is behind them means nothing
	}
	if !reflect.DeepEqual(got, want) {
		got.Frame, want.Frame = nil, nil
		t.Fatalf("%q after %q:\n got %+v\nwant %+v", frame, c.template.text, got, want)
	}
}

func TestAScannerFindsInFramesOfOneTemplateWhatScanFinds(t *testing.T) {
	values := []string{`""`, `"x"`, `"` + strings.Repeat("long ", 300) + `"`, `"\\"`, `"\ud83d\ude00"`, `"日本"`, `0`, `-12`, `1234567890123456789`, `2.5E-7`, `null`, `{"a":"b"}`, `"2.0"`}
	frame := `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":{"a":%s,"b":[%[3]s,%[2]s]}}}`
	for _, kind := range []string{`"s"`, `1`} {
		c := trained(t, fmt.Sprintf(frame, kind, kind, kind))
		for _, id := range values {
			for _, name := range values {
				for _, argument := range values {
					same(t, c, fmt.Appendf(nil, frame, id, name, argument))
				}
			}
		}
	}
}

func TestAScannerIsNotTakenInByAnyChangeOfAFrame(t *testing.T) {
	for _, frame := range templated {
		for i := range len(frame) {
			for _, c := range `"\{}[]:,0 9a-.eE+` + "\x00\n\x1f\x7f\x80\xc3\xff" {
				changed := []byte(frame)
				changed[i] = byte(c)
				same(t, trained(t, frame), changed)
			}
			same(t, trained(t, frame), []byte(frame[:i]))
			same(t, trained(t, frame), slices.Concat([]byte(frame[:i]), []byte(frame[i+1:])))
			same(t, trained(t, frame), slices.Concat([]byte(frame[:i+1]), []byte(frame[i:])))
		}
	}
}

func TestAScannerLooksOnlyAtWhatDiffers(t *testing.T) {
	for _, frame := range templated {
		c := trained(t, frame)
		var m Message
		if !c.template.match([]byte(frame), &m) {
			t.Errorf("%s: not recognised", frame)
		}
	}
}

func TestAScannerKeepsItsTemplateWhenTwoKindsOfFramesTakeTurns(t *testing.T) {
	c := trained(t, templated[0])
	var m Message
	for range 100 {
		for _, frame := range []string{templated[2], templated[0]} {
			if err := c.Scan([]byte(frame), &m); err != nil {
				t.Fatal(err)
			}
		}
		if c.misses != 0 {
			t.Fatal("the frame of the template was not recognised")
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, frame := range templated {
		f.Add([]byte(frame), []byte(templated[0]))
		f.Add([]byte(frame), []byte(strings.ReplaceAll(frame, "1", "23")))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var c Scanner
		for range recordAt {
			same(t, &c, slices.Clip(first))
		}
		same(t, &c, slices.Clip(second))
		same(t, &c, slices.Clip(first))
	})
}

func BenchmarkScanner(b *testing.B) {
	for name, frame := range map[string][]byte{"call/100": []byte(call100), "text/1k": textReply(1000, proseLine)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			var c Scanner
			var m Message
			for b.Loop() {
				if err := c.Scan(frame, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
