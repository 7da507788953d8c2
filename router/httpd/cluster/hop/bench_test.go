package hop

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkForward compares calls of 1 KB that a replica answers itself with calls that it
// forwards.
func BenchmarkForward(b *testing.B) {
	text := bytes.Repeat([]byte("x"), 1<<10)
	answer := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", "1024")
		w.Write(body)
	}
	keys := identity(b, 1)
	o := own(b, keys, func(w http.ResponseWriter, r *http.Request, _ Head) { answer(w, r) })
	c := newClient(b, keys)
	h := head()
	h.Principal = principalOf(b)
	direct := httptest.NewServer(http.HandlerFunc(answer))
	defer direct.Close()
	forwarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := buffers.Read(r.Body, r.ContentLength)
		if got := c.Forward(r.Context(), w, r, body, o.address, h); got.Err != nil {
			b.Error(got)
		}
		buffers.Put(body)
	}))
	defer forwarded.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	defer client.CloseIdleConnections()
	call := func(url string) {
		resp, err := client.Post(url, "application/json", bytes.NewReader(text))
		if err != nil {
			b.Error(err)
			return
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != int64(len(text)) || err != nil {
			b.Error(n, err)
		}
		resp.Body.Close()
	}
	for name, url := range map[string]string{"direct": direct.URL, "forwarded": forwarded.URL} {
		b.Run(name+"/one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(url)
			}
		})
		b.Run(name+"/sixteen", func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8) // of 2 processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(url)
				}
			})
		})
	}
}
