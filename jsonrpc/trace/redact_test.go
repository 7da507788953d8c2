package trace_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

// write gives frames and events to a Writer and returns its lines, the session line first.
func write(t testing.TB, o trace.Options, give func(w *trace.Writer)) []string {
	t.Helper()
	var out bytes.Buffer
	w := trace.NewWriter(&out, o)
	give(w)
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func writeMsg(t testing.TB, o trace.Options, msg string) string {
	t.Helper()
	return write(t, o, func(w *trace.Writer) { w.Frame(&trace.Frame{Msg: []byte(msg)}) })[1]
}

// body is what follows "bytes" in a frame's line, with true in place of the paths in "redacted".
func body(line string) string {
	_, rest, _ := strings.Cut(line, `"bytes":`)
	_, rest, _ = strings.Cut(rest, ",")
	rest = strings.TrimSuffix(rest, "}")
	if at := strings.LastIndex(rest, redactedField); at >= 0 {
		rest = rest[:at] + redactedTrue
	}
	return rest
}

const redactedField, redactedTrue = `,"redacted":[`, `,"redacted":true`

func TestSecretsByValue(t *testing.T) {
	const red = `,"redacted":true`
	for _, tt := range []struct{ name, secret, msg, want string }{
		{"none", "hunter22", `{"a":"b"}`, `"msg":{"a":"b"}`},
		{"whole string", "hunter22", `{"a":"hunter22"}`, `"msg":{"a":"[redacted]"}` + red},
		{"part of a string", "hunter22", `{"a":"x hunter22 y"}`, `"msg":{"a":"x [redacted] y"}` + red},
		{"twice", "hunter22", `["hunter22hunter22-hunter22"]`, `"msg":["[redacted][redacted]-[redacted]"]` + red},
		{"in a key", "hunter22", `{"hunter22":1}`, `"msg":{"[redacted]":1}` + red},
		{"unicode escapes", "hunter22", `["\u0068unt\u0065r22"]`, `"msg":["[redacted]"]` + red},
		{"upper case escapes", "kk\u00e9kk", `["kk\u00E9kk"]`, `"msg":["[redacted]"]` + red},
		{"surrogate pair", "ab😀cd", `["\ud83d ab\ud83d\ude00cd"]`, `"msg":["\ud83d [redacted]"]` + red},
		{"slash and quote", `a/b"c\d`, `["a\/b\"c\\d"]`, `"msg":["[redacted]"]` + red},
		{"neighbours keep their spelling", "hunter22", `["\u0041\/hunter22\t\u0042"]`, `"msg":["\u0041\/[redacted]\t\u0042"]` + red},
		{"raw spelling splits no escape", "nhunter", `["a\nhunter"]`, `"msg":["a[redacted]"]` + red},
		{"JSON in a string", `pa"ss\word`, `{"text":"{\"k\":\"pa\\\"ss\\\\word\"}"}`, `"msg":{"text":"{\"k\":\"[redacted]\"}"}` + red},
		{"JSON in JSON in a string", `pa"ss`, `["[\"[\\\"pa\\\\\\\"ss\\\"]\"]"]`, `"msg":["[\"[\\\"[redacted]\\\"]\"]"]` + red},
		{"number", "48213377", `{"a":48213377,"b":[1,48213377]}`, `"msg":{"a":"[redacted]","b":[1,"[redacted]"]}` + red},
		{"number spelled otherwise", "48213377", `[4.8213377e7,-48213377.0]`, `"msg":["[redacted]","[redacted]"]` + red},
		{"long number in a longer one", "48213377", `[9482133771]`, `"msg":["[redacted]"]` + red},
		{"short number in a longer one", "3000", `[13000,3000]`, `"msg":[13000,"[redacted]"]` + red},
		{"short, whole", "abc", `{"abc":["abc","xabc",1]}`, `"msg":{"[redacted]":["[redacted]","xabc",1]}` + red},
		{"short, escaped", "abc", `["\u0061bc"]`, `"msg":["[redacted]"]` + red},
		{"short number", "42", `[42,420,"42"]`, `"msg":["[redacted]",420,"[redacted]"]` + red},
		{"empty", "", `["",0]`, `"msg":["",0]`},
		{"one character", "é", `["é"]`, `"msg":["é"]`},
		{"common word", "True", `["true","True",true]`, `"msg":["true","True",true]`},
		{"version of JSON-RPC", "2.0", `{"jsonrpc":"2.0"}`, `"msg":{"jsonrpc":"2.0"}`},
		{"overlap, longest first", "hunter22\x00hunter22-more", `["hunter22-more"]`, `"msg":["[redacted]"]` + red},
		{"overlap, chained", "abcdef\x00defghi", `["abcdefghi!"]`, `"msg":["[redacted]!"]` + red},
		{"white space around the secret", "hunter22\n", `["hunter22"]`, `"msg":["[redacted]"]` + red},
		{"line of a secret", "-----KEY\nMIIEvQIBADAN\n", `["log: MIIEvQIBADAN"]`, `"msg":["log: [redacted]"]` + red},
		{"invalid JSON", "hunter22", `{"a":"hunter22`, `"text":"{\"a\":\"[redacted]"` + red},
		{"invalid JSON, escaped", "hunter22", `boom \u0068unter22 {`, `"text":"boom [redacted] {"` + red},
		{"invalid UTF-8", "hunter22", "hunter22\xff", `"text":"[redacted]�","raw":"W3JlZGFjdGVkXf8="` + red},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := body(writeMsg(t, trace.Options{Secrets: redact.NewSecrets(strings.Split(tt.secret, "\x00")...)}, tt.msg))
			if got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.msg, got, tt.want)
			}
		})
	}
}

func TestSecretsByKey(t *testing.T) {
	const red = `,"redacted":true`
	for _, tt := range []struct{ name, msg, want string }{
		{"header", `{"Authorization":"Bearer x"}`, `"msg":{"Authorization":"[redacted]"}` + red},
		{"part of the key, any case", `{"x-API_Key-2":"k", "DB_PASSWD" : "p"}`, `"msg":{"x-API_Key-2":"[redacted]", "DB_PASSWD" : "[redacted]"}` + red},
		{"escaped key and value", `{"\u0074oken":"a\"b"}`, `"msg":{"\u0074oken":"[redacted]"}` + red},
		{"array of strings", `{"Set-Cookie":["a=b","c=d",7],"next":"e"}`, `"msg":{"Set-Cookie":["[redacted]","[redacted]",7],"next":"e"}` + red},
		{"the value only", `{"token":"a","b":"c"}`, `"msg":{"token":"[redacted]","b":"c"}` + red},
		{"JSON in a string", `{"text":"{\"secret\": \"a\\nb\"}"}`, `"msg":{"text":"{\"secret\": \"[redacted]\"}"}` + red},
		{"JSON in JSON in a string", `["[\"{\\\"token\\\":\\\"x\\\"}\"]"]`, `"msg":["[\"{\\\"token\\\":\\\"[redacted]\\\"}\"]"]` + red},
		{"cut off value", `{"token":"abc`, `"text":"{\"token\":\"[redacted]"` + red},
		{"progress token", `{"progressToken":"p1"}`, `"msg":{"progressToken":"p1"}`},
		{"cursors", `{"nextCursor":"c","cursor":"d","nextPageToken":"e"}`, `"msg":{"nextCursor":"c","cursor":"d","nextPageToken":"e"}`},
		{"numbers, literals, objects", `{"max_tokens":9,"token":null,"secret":{"type":"string"},"token":true,"x":"y"}`,
			`"msg":{"max_tokens":9,"token":null,"secret":{"type":"string"},"token":true,"x":"y"}`},
		{"empty string", `{"token":""}`, `"msg":{"token":""}`},
		{"a value that looks like a key", `["token","abc"]`, `"msg":["token","abc"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := body(writeMsg(t, trace.Options{}, tt.msg)); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.msg, got, tt.want)
			}
		})
	}
}

func TestSecretsOutsideOfTheFrame(t *testing.T) {
	lines := write(t, trace.Options{
		Secrets: redact.NewSecrets("hunter22"),
		Session: trace.Session{Config: "/hunter22/tools.toml", Upstreams: []trace.Server{{Name: "a", Command: "run --key hunter22"}}},
	}, func(w *trace.Writer) {
		w.Frame(&trace.Frame{Peer: "hunter22", Method: "x/hunter22", Name: "hunter22", ID: []byte(`"\u0068unter22"`), Rule: "r hunter22",
			Rewrote: []string{"params.hunter22"}, Msg: []byte(`1`)})
		w.Frame(&trace.Frame{ID: []byte(`hunter22`), Msg: []byte(`1`)})
		w.Frame(&trace.Frame{ID: []byte(`"` + strings.Repeat("x", 1018) + `hunter22"`), Msg: []byte(`1`)})
		w.Frame(&trace.Frame{Name: strings.Repeat("x", 1020) + "hunter22", Msg: []byte(`1`)})
		w.Event(trace.Event{Event: trace.EventStderr, Peer: "hunter22", Text: "key is hunter22"})
		w.Event(trace.Event{Event: trace.EventStderr, Text: `{"token":"abc"}`})
		w.Event(trace.Event{Event: trace.EventStderr, Text: "hunter22 " + strings.Repeat("x", 64<<10-12) + "hunter22"})
		w.Event(trace.Event{Event: trace.EventStderr, Text: "hunter22 xxhunter2", Cut: true})
	})
	for i, line := range lines {
		if strings.Contains(line, "unter") || strings.Contains(line, "xxhu") || strings.Contains(line, "abc") {
			t.Errorf("line %d tells a secret: %s", i, line)
		}
		if !strings.Contains(line, redactedField) && !strings.Contains(line, `"id":"\"xxx`) { // a cut id only loses its end
			t.Errorf("line %d does not say that something was replaced: %s", i, line)
		}
	}
}

func TestAddedSecretsHoldFromThenOn(t *testing.T) {
	secrets := redact.NewSecrets()
	lines := write(t, trace.Options{Secrets: secrets}, func(w *trace.Writer) {
		secrets.Add("hunter22")
		w.Frame(&trace.Frame{Msg: []byte(`"hunter22"`)})
		secrets.Add("other-one")
		w.Frame(&trace.Frame{Msg: []byte(`"hunter22 other-one"`)})
	})
	if got, want := body(lines[1])+body(lines[2]), `"msg":"[redacted]","redacted":true"msg":"[redacted] [redacted]","redacted":true`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// However a secret is spelled and wherever the cap cuts it, no part of it that tells something is
// left.
func TestCutSecretLeavesNothing(t *testing.T) {
	const secret = "Zq9😀é/\"Wk"
	quoted, _ := json.Marshal(secret)
	inner := string(quoted[1 : len(quoted)-1])
	nested, _ := json.Marshal(inner)
	var escaped strings.Builder
	for _, r := range secret {
		if r > 0xffff {
			escaped.WriteString(`\ud83d\uDE00`)
			continue
		}
		escaped.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
	}
	for _, spelled := range []string{secret, inner, string(nested[1 : len(nested)-1]), escaped.String(), strings.ReplaceAll(escaped.String(), `\`, `\\`)} {
		msg := `{"a":"` + strings.Repeat("-", 40) + spelled + strings.Repeat("-", 40) + `"}`
		for cut := 40; cut < len(msg); cut++ {
			line := writeMsg(t, trace.Options{Secrets: redact.NewSecrets(secret), MaxMsg: cut}, msg)
			if !strings.Contains(line, `"trunc":true`) {
				t.Fatalf("cap %d: not marked as cut: %s", cut, line)
			}
			for _, part := range []string{"Z", "q", "W", "k", "😀", "é", "5a", "71", "57", "6b", "ud83d", "00e9"} {
				if strings.Contains(body(line), part) {
					t.Fatalf("cap %d of %s leaves %q: %s", cut, msg, part, line)
				}
			}
		}
	}
}

// In msg, $ stands for the first secret, spelled as the bytes of spelling choose.
func FuzzRedact(f *testing.F) {
	f.Add("hunter22", `{"a":"hunter22","b":["$"]}`, "tools/call", 0, []byte{1, 0, 2})
	f.Add("a/b\nmore", `{"a\/b":"x $","c":12}`, "a/b", 5, []byte{1})
	f.Add("48213377", `[48213377,4.8213377e7]`, "", 0, []byte{})
	f.Add("abc", `{"k":"{\"token\":\"abc\"}`, "n", 9, []byte{})
	f.Add("é\ud7ff", "\"\\u00e9$\xff", "\xff", 3, []byte{2, 2})
	f.Fuzz(func(t *testing.T, secrets, msg, name string, maxMsg int, spelling []byte) {
		all := strings.Split(secrets, "\n")
		o := trace.Options{Secrets: redact.NewSecrets(all...), MaxMsg: maxMsg % (1 << 16)}
		spelled := spell(all[0], spelling)
		ambiguous := strings.Contains(msg, `\`) // an escape before a secret may take its first character
		msg = strings.ReplaceAll(msg, "$", spelled)
		id, _ := json.Marshal(name)
		line := write(t, o, func(w *trace.Writer) {
			w.Frame(&trace.Frame{Leg: trace.Client, Peer: name, Method: name, Name: name, ID: id, Msg: []byte(msg)})
		})[1]
		rec := only(t, line)
		untouched := len(rec.Redacted) == 0 && !rec.Trunc && json.Valid([]byte(msg)) && rec.Raw == nil
		if want := strings.NewReplacer("\n", " ", "\r", " ").Replace(strings.Trim(msg, " \t\r\n")); untouched && string(rec.Msg) != want {
			t.Fatalf("not verbatim: %q became %q", msg, rec.Msg)
		}
		var id2, msg2 any
		json.Unmarshal(rec.ID, &id2)
		json.Unmarshal(rec.Msg, &msg2)
		seen := []any{rec.Peer, rec.Method, rec.Name, rec.Text, string(rec.Raw), id2, msg2}
		for _, secret := range all {
			if tells(secret) {
				checkAbsent(t, secret, seen)
			}
		}
		if tells(all[0]) && !ambiguous {
			checkAbsent(t, spelled, []any{rec.Text, string(rec.Raw)})
		}
	})
}

// spell writes s as the inside of a JSON string, as it is or escaped in one of JSON's ways,
// character by character.
func spell(s string, how []byte) string {
	var out []byte
	for i, r := range []rune(s) {
		way := byte(0)
		if len(how) > 0 {
			way = how[i%len(how)]
		}
		plain, _ := json.Marshal(string(r))
		switch {
		case way%4 == 1:
			out = fmt.Appendf(out, `\u%04x`, utf16.Encode([]rune{r})[0])
		case way%4 == 2:
			out = fmt.Appendf(out, `\u%04X`, utf16.Encode([]rune{r})[0])
		case way%4 == 3 && r == '/':
			out = append(out, `\/`...)
		default:
			out = append(out, plain[1:len(plain)-1]...)
		}
		if low := utf16.Encode([]rune{r})[1:]; len(low) > 0 && (way%4 == 1 || way%4 == 2) {
			out = fmt.Appendf(out, `\u%04x`, low[0])
		}
	}
	return string(out)
}

// only is the record of a line that must hold exactly one.
func only(t *testing.T, line string) (rec *trace.Record) {
	t.Helper()
	for got, err := range trace.Read(strings.NewReader(line)) {
		if err != nil || rec != nil {
			t.Fatalf("not one record: %v %q", err, line)
		}
		rec = got
	}
	return rec
}

// tells reports whether a secret must be absent from anywhere within a string. One that the
// placeholder itself could complete would appear without having been there.
func tells(secret string) bool {
	switch strings.ToLower(secret) {
	case "true", "false", "null":
		return false
	}
	return len(secret) >= 4 && len([]rune(secret)) > 1 && !strings.ContainsAny(secret, "[]") && !strings.Contains("redacted", secret)
}

func checkAbsent(t *testing.T, secret string, v any) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, secret) {
			t.Fatalf("secret %q in %q", secret, v)
		}
	case float64:
		if n, err := strconv.ParseFloat(secret, 64); err == nil && n == v {
			t.Fatalf("secret %q is the number %v", secret, v)
		}
	case []any:
		for _, e := range v {
			checkAbsent(t, secret, e)
		}
	case map[string]any:
		for k, e := range v {
			checkAbsent(t, secret, k)
			checkAbsent(t, secret, e)
		}
	}
}

func TestRawKeepsTheBytesOfBrokenUTF8(t *testing.T) {
	msg := "{\"a\":\"\xff\xfe\"}"
	line := writeMsg(t, trace.Options{}, msg)
	if want := `"raw":"` + base64.StdEncoding.EncodeToString([]byte(msg)); !strings.Contains(line, want) {
		t.Errorf("no %s in %s", want, line)
	}
}

// What came while a secret was lent is without it, however late it is written.
func TestATraceIsWithoutWhatWasLentWhenItCame(t *testing.T) {
	out := &barred{open: make(chan struct{})}
	secrets := redact.NewSecrets()
	w := trace.NewWriter(out, trace.Options{Secrets: secrets})
	back := secrets.Lend("swordfish")
	w.Event(trace.Event{Event: trace.EventReady, Text: "first swordfish"})
	back()
	w.Event(trace.Event{Event: trace.EventReady, Text: "then swordfish"})
	close(out.open)
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	if text := out.buf.String(); !strings.Contains(text, "first [redacted]") || !strings.Contains(text, "then swordfish") {
		t.Errorf("got %s", text)
	}
}

// A barred output takes nothing until it is open.
type barred struct {
	open chan struct{}
	buf  bytes.Buffer
}

func (g *barred) Write(p []byte) (int, error) {
	<-g.open
	return g.buf.Write(p)
}
