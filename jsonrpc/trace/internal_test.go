package trace

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadSkipsALineOverTheLimit(t *testing.T) {
	const limit = 200_000 // several of the reader's buffers
	at, over := strings.Repeat(" ", limit-13-1)+`{"t":"event"}`, strings.Repeat(" ", limit-13)+`{"t":"event"}`
	in := strings.Join([]string{over, at, over, at, over}, "\n")
	got := ""
	for rec, err := range read(strings.NewReader(in), limit) {
		switch {
		case err != nil:
			got += err.Error() + "\n"
		default:
			got += rec.Type + "\n"
		}
	}
	want := "line 1 is no trace record: it is too long\nevent\nline 3 is no trace record: it is too long\nevent\nevent\n"
	if got != want { // the last one has no newline, and so just fits
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// What the search for secrets costs, in JSON within a string, in prose with the marks of all
// escapings, and in base64.
func BenchmarkScrub(b *testing.B) {
	const item = `{"type":"text","text":"{\"name\":\"value\",\"n\":1}","number":12345},`
	const prose = "The Quick brown fox & 12 % of dogs;\\n\\tif a && b { return x }\\n"
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
	for _, tt := range []struct{ name, msg string }{
		{"json", `[` + strings.Repeat(item, 150) + `{}]`},
		{"prose", `["` + strings.Repeat(prose, 150) + `"]`},
		{"base64", `["` + strings.Repeat(data, 120) + `"]`},
	} {
		for _, secrets := range []int{3, 300} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, secrets), func(b *testing.B) {
				var all []string
				for i := range secrets {
					all = append(all, fmt.Sprintf("%xhunter%d swordfish", i*7919+3, i))
				}
				s := scrubber{patterns: newPatterns(all)}
				b.SetBytes(int64(len(tt.msg)))
				b.ReportAllocs()
				for b.Loop() {
					s.json([]byte(tt.msg))
				}
			})
		}
	}
}
