package guard

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What two readers could read as different requests is refused, or read in the one way that RFC
// 9112 allows. These are the tricks by which a request is smuggled past a proxy in front.
func TestRequestsThatCouldBeReadInTwoWays(t *testing.T) {
	addr := start(t, Options{})
	const hidden = "GET /mcp/hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
	post := func(headers, body string) string {
		return "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body
	}
	for name, text := range map[string]string{
		"two lengths":                    post("Content-Length: 2\r\nContent-Length: 3\r\n", "{} "),
		"two lengths in one":             post("Content-Length: 2, 3\r\n", "{} "),
		"a length with a sign":           post("Content-Length: +2\r\n", "{}"),
		"a negative length":              post("Content-Length: -2\r\n", "{}"),
		"a length in hexadecimal":        post("Content-Length: 0x2\r\n", "{}"),
		"an unknown encoding":            post("Transfer-Encoding: gzip, chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
		"chunked and something":          post("Transfer-Encoding: chunked, identity\r\n", "2\r\n{}\r\n0\r\n\r\n"),
		"two encodings":                  post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"an encoding with a control":     post("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
		"a space before the colon":       post("Content-Length : 2\r\n", "{}"),
		"a header without a name":        post(": x\r\n", ""),
		"a folded first header":          "POST /mcp HTTP/1.1\r\n Host: localhost\r\n\r\n",
		"two hosts":                      post("Host: localhost\r\n", ""),
		"no host":                        "GET /mcp HTTP/1.1\r\n\r\n",
		"a host with a path":             "GET /mcp HTTP/1.1\r\nHost: localhost/x\r\n\r\n",
		"a zero byte in a header":        post("X: a\x00b\r\n", ""),
		"a bare return in a header":      post("X: a\rContent-Length: 5\r\n", ""),
		"a method with a space":          "GE T /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"two spaces":                     "GET  /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"another version":                "GET /mcp HTTP/3.0\r\nHost: localhost\r\n\r\n",
		"a header far too long":          post("X: "+strings.Repeat("a", 2*headerBytes)+"\r\n", ""),
		"far too many headers":           post(strings.Repeat("X: aaaaaaaaaaaaaaaa\r\n", headerBytes/8), ""),
		"a target far too long":          "GET /mcp?" + strings.Repeat("a", 2*headerBytes) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a chunk with a length too long": post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := raw(t, addr, text); got.status/100 == 2 || got.status == 0 && !strings.Contains(name, "far too") {
				t.Errorf("got %+v", got)
			}
		})
	}
	for name, text := range map[string]string{
		"a length and chunks":                  post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		"chunks and a length":                  post("Transfer-Encoding: chunked\r\nContent-Length: 70\r\n", "2\r\n{}\r\n0\r\n\r\n"),
		"chunks, whose length nobody sees":     post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
		"a length and chunks, refused by Host": "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a length and chunks, refused by path": "POST /%2e HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			// The chunks count, and the connection ends: what follows is never read as a request
			// (RFC 9112, 6.1).
			if n := answers(t, addr, text+hidden); n != 1 {
				t.Errorf("%d answers", n)
			}
		})
	}
	t.Run("a length", func(t *testing.T) {
		if n := answers(t, addr, post("Content-Length: 2\r\n", "{}")+hidden); n != 2 {
			t.Errorf("%d answers", n)
		}
	})
	t.Run("chunks that are longer than they say", func(t *testing.T) {
		if n := answers(t, addr, post("Transfer-Encoding: chunked\r\n", "1\r\n{}"+hidden+"\r\n0\r\n\r\n")); n != 1 {
			t.Errorf("%d answers", n)
		}
	})
}

// answers counts what comes back for some bytes, after which the client closes its side.
func answers(t *testing.T, addr, text string) int {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	c.(*net.TCPConn).CloseWrite()
	_, said := ended(c)
	return strings.Count(said, "HTTP/1.1 ")
}

func TestLongBodies(t *testing.T) {
	addr := start(t, Options{MaxBodyBytes: 100})
	for _, tt := range []struct {
		name, headers, body string
		want                int
	}{
		{"just short enough", "Content-Length: 100\r\n", strings.Repeat("a", 100), 200},
		{"announced", "Content-Length: 101\r\n", "", 413},
		{"announced as enormous", "Content-Length: 9223372036854775807\r\n", "", 413},
		{"in chunks", "Transfer-Encoding: chunked\r\n", strings.Repeat("32\r\n"+strings.Repeat("a", 0x32)+"\r\n", 3), 413},
		{"in chunks, just short enough", "Transfer-Encoding: chunked\r\n", strings.Repeat("32\r\n"+strings.Repeat("a", 0x32)+"\r\n", 2) + "0\r\n\r\n", 200},
		{"without asking first", "Expect: 100-continue\r\nContent-Length: 101\r\n", "", 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := raw(t, addr, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"+tt.headers+"\r\n"+tt.body)
			if got.status != tt.want || got.status == 413 && !got.closed {
				t.Errorf("got %+v, want %d", got, tt.want)
			}
		})
	}
}

func TestRequestsASecond(t *testing.T) {
	one, oneHash := withToken("a")
	other, otherHash := withToken("b")
	url := "http://" + start(t, Options{Tokens: []Token{oneHash, otherHash}, RateLimit: 3}) + "/mcp"
	got := answer{status: 200}
	for n := 0; n < 1000 && got.status == 200; n++ {
		got = send(t, "POST", url, "Authorization", "Bearer "+one)
	}
	if got.status != 429 || got.header.Get("Retry-After") == "" || !strings.Contains(got.message(t), "too many requests") {
		t.Errorf("got %+v", got)
	}
	if got := send(t, "POST", url, "Authorization", "Bearer "+other); got.status != 200 {
		t.Errorf("another principal has to wait: %+v", got)
	}
}

func TestAMeterFillsUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newRateLimiter(3, 6)
		allowed := func() (n int) {
			for m.allow("a") {
				n++
			}
			return n
		}
		if n := allowed(); n != 6 {
			t.Errorf("%d at once, want 6", n)
		}
		time.Sleep(time.Second)
		if n := allowed(); n != 3 {
			t.Errorf("%d a second later, want 3", n)
		}
	})
}

func TestAMeterForgetsWhoWasNotSeenForLong(t *testing.T) {
	m := newRateLimiter(0, 1)
	if !m.allow("first") || m.allow("first") {
		t.Errorf("one and no more")
	}
	for i := range 3 * maxLimited {
		m.allow("other" + string(rune('a'+i%26)) + strings.Repeat("x", i/26))
		if i%1000 == 0 && m.allow("first") {
			t.Fatalf("somebody who keeps coming was forgotten after %d others", i)
		}
		if len(m.now)+len(m.old) > 2*maxLimited {
			t.Fatalf("remembers %d", len(m.now)+len(m.old))
		}
	}
}
