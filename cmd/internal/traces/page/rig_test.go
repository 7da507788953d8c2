package page

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A rig is a server that shows the file t.jsonl.
type rig struct {
	t     *testing.T
	path  string
	token string
	addr  string
	end   context.CancelFunc
	ended chan error
	web   *http.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "t.jsonl"), token: newToken(), addr: l.Addr().String(), end: end, ended: make(chan error, 1),
		web: &http.Client{Transport: &http.Transport{}}}
	s := newServer(ctx, []file{{"f0", r.path, "t"}}, r.token, l.Addr().(*net.TCPAddr).Port)
	s.endTime = time.Minute // a busy machine needs longer than a user waits
	go func() { r.ended <- s.serve(ctx, l) }()
	t.Cleanup(func() {
		r.web.CloseIdleConnections()
		end()
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// write appends text to the file; with os.O_TRUNC the file begins anew.
func (r *rig) write(text string, flags ...int) {
	r.t.Helper()
	mode := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	for _, flag := range flags {
		mode |= flag
	}
	f, err := os.OpenFile(r.path, mode, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) url(path string) string {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return "http://" + r.addr + path + mark + "token=" + r.token
}

// get makes a request with some headers, given as "Name: value".
func (r *rig) get(url string, headers ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	resp, err := r.web.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// status returns the status of a request, and leaves nothing open.
func (r *rig) status(path string) int {
	resp := r.get(r.url(path))
	resp.Body.Close()
	return resp.StatusCode
}

// An event is one of a stream.
type event struct{ name, id, data string }

// A listening page reads a stream.
type listening struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Reader
}

// listen opens a stream; query may have more parameters.
func (r *rig) listen(query string, headers ...string) *listening {
	r.t.Helper()
	resp := r.get(r.url("/events?file=f0"+query), headers...)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		r.t.Fatalf("GET /events: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	return &listening{r.t, resp, bufio.NewReader(resp.Body)}
}

func (l *listening) close() { l.resp.Body.Close() }

// next returns the next event.
func (l *listening) next() (e event) {
	l.t.Helper()
	var data []string
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			l.t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			data = append(data, value)
		case "":
			if line == "" && data != nil {
				e.data = strings.Join(data, "\n")
				return e
			}
		}
	}
}

// expect reads events until it has all of some lines, and "live" where it is in them.
func (l *listening) expect(want ...string) (id string) {
	l.t.Helper()
	for len(want) > 0 {
		e := l.next()
		id = e.id
		got := strings.Split(e.data, "\n")
		if e.name != "" {
			got = []string{e.name}
		}
		if len(got) > len(want) || strings.Join(got, "\n") != strings.Join(want[:len(got)], "\n") {
			l.t.Fatalf("got %q, want the first of %q", e, want)
		}
		want = want[len(got):]
	}
	return id
}

func line(n int) string { return fmt.Sprintf(`{"t":"event","seq":%d,"event":"spawn"}`, n) }
