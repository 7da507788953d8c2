package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// conversation is a Control over a stream, as a router has it.
type conversation struct {
	*Control
	calls Pending[bool]
}

func (c *conversation) Next(string) (uint64, bool) { return c.calls.Add(true) }
func (c *conversation) Forget(id uint64)           { c.calls.Take(id) }

// read delivers the responses that come.
func (c *conversation) read(from io.Reader) {
	var m Message
	for lines := bufio.NewScanner(from); lines.Scan(); {
		if Scan(lines.Bytes(), &m) != nil || m.Kind != Response {
			continue
		}
		if id, ok := ParseID(m.Bytes(m.ID)); ok {
			if _, ok := c.calls.Take(id); ok {
				c.Deliver(id, &m)
			}
		}
	}
}

// converse starts a conversation and returns the other end of its stream.
func converse(t *testing.T) (*conversation, net.Conn) {
	ours, theirs := net.Pipe()
	c := new(conversation)
	c.Control = NewControl(func(frame []byte) error {
		_, err := ours.Write(append(frame, '\n'))
		return err
	}, c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(ours)
	}()
	t.Cleanup(func() {
		c.Close()
		ours.Close()
		theirs.Close()
		<-done
	})
	return c, theirs
}

// idle fails the test when anything is left of a call anywhere.
func (c *conversation) idle(t *testing.T) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	inConn := reflect.ValueOf(c.conn).Elem().FieldByName("pending").Len()
	if c.calls.Len() != 0 || len(c.pending) != 0 || inConn != 0 {
		t.Errorf("left over: %d calls, %d answers, %d pending in the Conn", c.calls.Len(), len(c.pending), inConn)
	}
}

// The other end is a stock Conn: somebody else's idea of JSON-RPC.
func TestControlTalksToAnIndependentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		notified := make(chan string, 1)
		server := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewPlainObjectStream(theirs), jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(
			func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
				switch {
				case r.Notif:
					notified <- r.Method + string(*r.Params)
					return nil, nil
				case r.Method == "fail":
					return nil, &jsonrpc2.Error{Code: -32002, Message: "not today"}
				case r.Params == nil:
					return nil, nil
				}
				var n int
				json.Unmarshal(*r.Params, &n)
				time.Sleep(time.Duration(100-n) * time.Second) // answers come in another order
				return r.Params, nil
			})))
		defer server.Close()

		var wg sync.WaitGroup
		for n := range 100 {
			wg.Go(func() {
				if got, err := c.Call(t.Context(), "echo", n); err != nil || string(got) != strconv.Itoa(n) {
					t.Errorf("%d was answered with %q, %v", n, got, err)
				}
			})
		}
		wg.Wait()
		if got, err := c.Call(t.Context(), "echo", nil); err != nil || string(got) != "null" {
			t.Errorf("a call without params: %q, %v", got, err)
		}
		_, err := c.Call(t.Context(), "fail", nil)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != -32002 || e.Message != "not today" {
			t.Errorf("got %v, want the server's error", err)
		}
		if err := c.Notify(t.Context(), "note", []int{1}); err != nil {
			t.Error(err)
		}
		if got := <-notified; got != "note[1]" {
			t.Errorf("the notification came as %s", got)
		}
		c.idle(t)
	})
}

// respond reads one request and writes what reply makes of its id.
func respond(t *testing.T, theirs net.Conn, reply string) {
	t.Helper()
	var request struct{ ID uint64 }
	if err := json.NewDecoder(theirs).Decode(&request); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(theirs, reply+"\n", request.ID)
}

func TestControlReturnsAnswersAsTheyCame(t *testing.T) {
	tests := []struct{ name, reply, result, err string }{
		{"a result", `{"jsonrpc":"2.0","id":%d,"result":{"b": 1.0e2,"a":"\u00e9<>","a":1e400}}`, `{"b": 1.0e2,"a":"\u00e9<>","a":1e400}`, ``},
		{"a null result", `{"jsonrpc":"2.0","id":%d,"result":null}`, `null`, ``},
		{"a result beside a null error", `{"jsonrpc":"2.0","id":%d,"result":1,"error":null}`, `1`, ``},
		{"an error", `{"jsonrpc":"2.0","id":%d,"error":{"code":-7,"message":"m","data":[1]}}`, ``, `{"code":-7,"message":"m","data":[1]}`},
		{"an error with data no float holds", `{"jsonrpc":"2.0","id":%d,"error":{"code":-7,"message":"m","data":1e400}}`, ``, `{"code":-7,"message":"m","data":1e400}`},
		{"an empty error", `{"jsonrpc":"2.0","id":%d,"error":{}}`, ``, `{"code":0,"message":""}`},
		{"an error of a wrong shape", `{"jsonrpc":"2.0","id":%d,"error":{"code":"E","message":["m"]}}`, ``, `{"code":-32603,"message":"the error response is malformed"}`},
	}
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		for _, tt := range tests {
			go respond(t, theirs, tt.reply)
			result, err := c.Call(t.Context(), "a", nil)
			if string(result) != tt.result {
				t.Errorf("%s: got %q, want %q", tt.name, result, tt.result)
			}
			got := ""
			if e, ok := errors.AsType[*Error](err); ok {
				b, _ := json.Marshal(e)
				got = string(b)
			} else if err != nil {
				got = err.Error()
			}
			if got != tt.err {
				t.Errorf("%s: got the error %s, want %s", tt.name, got, tt.err)
			}
		}
		c.idle(t)
	})
}

func TestControlOutlivesWhatAnUpstreamBabbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		go respond(t, theirs, strings.Join([]string{`Listening`, `{}`, `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
			`{"jsonrpc":"2.0","id":0,"result":1}`, `{"jsonrpc":"2.0","id":-5,"result":1}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":%[1]d,"result":"right"}`, `{"jsonrpc":"2.0","id":%[1]d,"result":"again"}`}, "\n"))
		if got, err := c.Call(t.Context(), "a", nil); err != nil || string(got) != `"right"` {
			t.Errorf("got %q, %v", got, err)
		}
		go respond(t, theirs, `{"jsonrpc":"2.0","id":%d,"result":"next"}`)
		if got, err := c.Call(t.Context(), "a", nil); err != nil || string(got) != `"next"` {
			t.Errorf("the next call: got %q, %v", got, err)
		}
		c.idle(t)
	})
}

func TestControlGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		go io.Copy(io.Discard, theirs)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.Call(ctx, "tools/list", nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "tools/list") {
			t.Errorf("got %v, want the deadline and the method", err)
		}
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("waited %v", waited)
		}
		c.idle(t)

		why := errors.New("the client is gone")
		ctx2, cancel2 := context.WithCancelCause(t.Context())
		cancel2(why)
		if _, err := c.Call(ctx2, "a", nil); !errors.Is(err, why) {
			t.Errorf("got %v, want the cause", err)
		}
		c.idle(t)
	})
}

// The answer is taken from the table when the caller gives up.
func TestControlForgetsAnAnswerThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		go io.Copy(io.Discard, theirs)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := c.Call(ctx, "a", nil); done <- err }()
		synctest.Wait()
		var id uint64
		c.calls.Each(func(got uint64, _ bool) { id = got })
		c.calls.Take(id)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		c.Deliver(id, mustScan(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"late"}`, id)))
		c.idle(t)
	})
}

func TestControlCallFailsWhenItCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &conversation{}
		refusal := ErrQueueFull
		c.Control = NewControl(func([]byte) error { return refusal }, c)
		defer c.Close()
		for _, refusal = range []error{ErrQueueFull, ErrClosed} {
			if _, err := c.Call(t.Context(), "a", nil); !errors.Is(err, refusal) {
				t.Errorf("Call: got %v, want %v", err, refusal)
			}
			if err := c.Notify(t.Context(), "a", nil); !errors.Is(err, refusal) {
				t.Errorf("Notify: got %v, want %v", err, refusal)
			}
		}
		if _, err := c.Call(t.Context(), "a", make(chan int)); err == nil {
			t.Error("params that are not JSON were sent")
		}
		c.idle(t)
		c.calls.Close()
		if _, err := c.Call(t.Context(), "a", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after Drain: got %v, want ErrClosed", err)
		}
	})
}

func TestControlCloseEndsTheCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := converse(t)
		go io.Copy(io.Discard, theirs)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.Call(t.Context(), "a", nil); !errors.Is(err, ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		}
		synctest.Wait()
		if n := c.calls.Len(); n != 20 {
			t.Errorf("%d calls wait, want 20", n)
		}
		c.Close()
		wg.Wait()
		c.idle(t)
		if _, err := c.Call(t.Context(), "a", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Call after Close: %v", err)
		}
		if err := c.Notify(t.Context(), "a", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Notify after Close: %v", err)
		}
		c.Deliver(1, mustScan(t, `{"jsonrpc":"2.0","id":1,"result":1}`)) // must not block
		c.Close()
		c.idle(t)
	})
}
