package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestWhoIsRefused(t *testing.T) {
	r := newRig(t)
	r.write(line(1) + "\n")
	_, port, _ := net.SplitHostPort(r.addr)
	paths := []string{"/", "/runs", "/events?file=f0", "/line?file=f0&at=0", "/debug?file=f0", "/none"}
	for _, path := range paths {
		own := r.url(path)
		for _, tt := range []struct {
			name, url string
			headers   []string
		}{
			{"no token", "http://" + r.addr + path, nil},
			{"another token", strings.ReplaceAll(own, r.token, newToken()), nil},
			{"a part of the token", strings.TrimSuffix(own, r.token[10:]), nil},
			{"a name that leads here", own, []string{"Host: evil.example:" + port}},
			{"another port", own, []string{"Host: 127.0.0.1:1"}},
			{"no port", own, []string{"Host: 127.0.0.1"}},
			{"another origin", own, []string{"Origin: http://evil.example"}},
			{"another program's page", own, []string{"Origin: http://127.0.0.1:1"}},
			{"a page without origin", own, []string{"Origin: null"}},
			{"another origin beside ours", own, []string{"Origin: http://" + r.addr, "Origin: http://evil.example"}},
		} {
			if resp := r.get(tt.url, tt.headers...); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s: %s, want 403", path, tt.name, resp.Status)
			}
		}
	}
	for _, headers := range [][]string{nil, {"Host: localhost:" + port}, {"Origin: http://" + r.addr}} {
		if resp := r.get(r.url("/"), headers...); resp.StatusCode != http.StatusOK {
			t.Errorf("with %q: %s, want 200", headers, resp.Status)
		}
	}
}

func TestThePageMayLoadNothing(t *testing.T) {
	r := newRig(t)
	resp := r.get(r.url("/"))
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != string(template) {
		t.Errorf("not the page: %v", err)
	}
	for name, want := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
		"Referrer-Policy":         "no-referrer",
		"Cache-Control":           "no-store",
		"Content-Security-Policy": "default-src 'none'; script-src 'sha256-",
	} {
		if got := resp.Header.Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, part := range []string{"unsafe", "*", "http:", "https:"} {
		if policy := resp.Header.Get("Content-Security-Policy"); strings.Contains(policy, part) {
			t.Errorf("the policy %q has %s", policy, part)
		}
	}
	if len(resp.Cookies()) > 0 {
		t.Errorf("cookies: %v", resp.Cookies())
	}
}

func TestRuns(t *testing.T) {
	r := newRig(t)
	for _, want := range []int64{0, 3} {
		var runs []run
		if err := json.NewDecoder(r.get(r.url("/runs")).Body).Decode(&runs); err != nil {
			t.Fatal(err)
		}
		if len(runs) != 1 || runs[0] != (run{ID: "f0", File: r.path, Name: "t", Live: true, Size: want}) {
			t.Errorf("runs: %+v, want one of %d bytes", runs, want)
		}
		r.write("{}\n")
	}
}

func TestAStreamFollowsItsFile(t *testing.T) {
	r := newRig(t)
	in := r.listen("") // of a file that does not exist
	in.expect("live")
	r.write(line(1) + "\n" + line(2)[:10])
	in.expect(line(1))
	r.write(line(2)[10:] + "\n\n \n" + line(3) + "\r\n")
	at := in.expect(line(2), line(3)+" ")
	in.close()
	r.write(line(4) + "\n")
	r.listen("", "Last-Event-ID: "+at).expect(line(4), "live")
	r.listen("&from="+at).expect(line(4), "live")
	r.listen("").expect(line(1), line(2), line(3)+" ", line(4), "live")
}

func TestAFileThatBeginsAnew(t *testing.T) {
	r := newRig(t)
	r.write(line(1) + "\n" + line(2) + "\n")
	in := r.listen("")
	at := in.expect(line(1), line(2), "live")

	// Both changes are made at once: a server that sees the file between two steps tells of both.
	if err := os.Truncate(r.path, int64(len(line(1))+1)); err != nil { // shorter
		t.Fatal(err)
	}
	in.expect("reset", line(1), "live")
	r.listen("", "Last-Event-ID: "+at).expect("reset", line(1), "live")

	next := *r
	next.path += ".next"
	next.write(line(4) + "\n" + line(5) + "\n" + line(6) + "\n")
	if err := os.Rename(next.path, r.path); err != nil { // another file, which is longer
		t.Fatal(err)
	}
	in.expect("reset", line(4), line(5), line(6), "live")
	r.listen("&from=7").expect("reset", line(4), line(5), line(6), "live") // no line begins at 7
}

func TestALongLineIsCut(t *testing.T) {
	r := newRig(t)
	for _, size := range []int{maxLine, maxBatch, 10 << 20} {
		whole := `{"t":"frame","seq":1,"msg":{"text":"` + strings.Repeat("x", size) + `"},"text":"` + strings.Repeat("ü\\n", 1000) + `"}`
		r.write(line(1)+"\n"+whole, os.O_TRUNC)
		in := r.listen("")
		in.expect(line(1), "live")
		r.write("\n" + line(2) + "\n") // only now the line is complete
		cut := in.next()
		var got struct {
			T, Text string
			Seq, At int
			Msg     any
			Cut     bool
		}
		first, _, _ := strings.Cut(cut.data, "\n")
		if err := json.Unmarshal([]byte(first), &got); err != nil || len(first) > maxCut+2*maxValue {
			t.Fatalf("%d bytes: %d of %.300s: %v", size, len(first), first, err)
		}
		at := len(line(1)) + 1
		if got.T != "frame" || got.Seq != 1 || !strings.HasPrefix(got.Text, "ü\nü\n") || got.Msg != nil || !got.Cut || got.At != at {
			t.Errorf("%d bytes: %+v", size, got)
		}
		if !strings.HasSuffix(cut.data, line(2)) {
			in.expect(line(2))
		}
		resp := r.get(r.url(fmt.Sprintf("/line?file=f0&at=%d", at)))
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != whole {
			t.Errorf("/line: %s, %d bytes of %d: %v", resp.Status, len(body), len(whole), err)
		}
	}
	for path, want := range map[string]int{
		"/line?file=f0&at=42":       http.StatusNotFound,
		"/line?file=f0&at=99999999": http.StatusNotFound,
		"/line?file=f0&at=-1":       http.StatusBadRequest,
		"/line?file=f1&at=0":        http.StatusNotFound,
		"/events?file=f1":           http.StatusNotFound,
		"/events?file=f0&from=x":    http.StatusBadRequest,
	} {
		if resp := r.get(r.url(path)); resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
	}
}

func TestDiff(t *testing.T) {
	r := newRig(t)
	const session = `{"t":"session","run":"a"}` + "\n" +
		`{"t":"frame","leg":"client","peer":"c","dir":"in","kind":"request","method":"tools/call","name":"x","id":1,"call":"c1","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}}` + "\n"
	if code := r.status("/diff?a=f0&b=f0"); code != http.StatusUnprocessableEntity {
		t.Errorf("a diff of nothing: %d, want 422", code)
	}
	r.write(session + strings.ReplaceAll(strings.ReplaceAll(session, `"x"`, `"y"`), `"a"`, `"b"`))
	for query, want := range map[string]string{"": `{"equal":true,`, "&runa=1&runb=2": `{"equal":false,`, "&runa=b": `{"equal":true,`} {
		body, err := io.ReadAll(r.get(r.url("/diff?a=f0&b=f0" + query)).Body)
		if err != nil || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: %.200s, want %s", query, body, want)
		}
	}
	for _, query := range []string{"a=f0&b=f1", "a=f0", "b=f0"} {
		if code := r.status("/diff?" + query); code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", query, code)
		}
	}
}

// A page that does not read must not make the server keep what it was to be sent.
func TestAPageThatDoesNotRead(t *testing.T) {
	r := newRig(t)
	const size = 64 << 20
	r.write(strings.Repeat(line(1)+"\n", size/len(line(1))))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var open []*listening
	for range 4 {
		in := r.listen("")
		in.next()
		open = append(open, in)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > size/8 {
		t.Errorf("%d pages that do not read cost %d bytes", len(open), grown)
	}
	var got int
	for got < size-len(line(1)) { // one that reads in the end has lost nothing
		got += len(open[0].next().data) + 1
	}
}

func TestStreamsAreLimitedAndEndWithTheirPages(t *testing.T) {
	before := runtime.NumGoroutine()
	r := newRig(t)
	r.write(line(1) + "\n")
	for range 3 {
		var open []*listening
		for len(open) < maxStreams {
			resp := r.get(r.url("/events?file=f0"))
			if resp.StatusCode != http.StatusOK { // a stream of the last round has not ended yet
				resp.Body.Close()
				continue
			}
			open = append(open, &listening{t, resp, nil})
		}
		if code := r.status("/events?file=f0"); code != http.StatusServiceUnavailable {
			t.Errorf("one more stream: %d, want 503", code)
		}
		if code := r.status("/runs"); code != http.StatusOK {
			t.Errorf("beside them: %d", code)
		}
		for _, in := range open {
			in.close()
		}
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+10; runtime.Gosched() {
		r.web.CloseIdleConnections()
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left of %d pages, %d were there before", runtime.NumGoroutine(), 3*maxStreams, before)
		}
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	r := newRig(t)
	in := r.listen("")
	in.expect("live")
	r.end()
	if _, err := io.ReadAll(in.in); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
}
