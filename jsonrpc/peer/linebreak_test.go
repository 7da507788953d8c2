package peer

import (
	"errors"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// A frame with a line break would be more than one message at the far end. None of it is written,
// whatever way it takes, and the frames around it keep their place.
func TestPeerRefusesFramesWithLineBreaks(t *testing.T) {
	for _, lineBreak := range []string{"\n", "\r", "\r\n"} {
		overTransports(t, func(t *testing.T, open func(Options) link) {
			source, sink := open(Options{}), open(Options{})
			sink.Start(mute{})
			forged := `{"a":` + lineBreak + `{"jsonrpc":"2.0","method":"m"}` + lineBreak + `}`
			large := strings.Repeat(" ", largeFrame) + forged
			refused := make(chan error, 8)
			source.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) {
				out.Pass(sink.Peer, m)
				refused <- out.Pass(sink.Peer, &jsonrpc.Message{Frame: []byte(forged)})
				refused <- out.Pass(sink.Peer, &jsonrpc.Message{Frame: []byte(large)})
				refused <- out.Send(sink.Peer, []byte(forged))
				out.Edit(jsonrpc.Span{Lo: 1, Hi: 1}, []byte(lineBreak))
				refused <- out.Pass(sink.Peer, m)
				out.Pass(sink.Peer, m)
				refused <- sink.Queue([]byte(forged), nil)
				refused <- sink.Queue([]byte(large), nil)
				refused <- sink.Queue([]byte(`{}`), []jsonrpc.Edit{{Span: jsonrpc.Span{Lo: 1, Hi: 1}, New: []byte(lineBreak)}})
				refused <- sink.Send([]byte(lineBreak))
				out.Pass(sink.Peer, m)
			}))
			go source.say(t, note(1)+"\n")
			for i, got := range sink.lines(t, 3) {
				if got != note(1) {
					t.Errorf("line %d is %.80q, want %s", i, got, note(1))
				}
			}
			for range cap(refused) {
				if err := <-refused; !errors.Is(err, jsonrpc.ErrLineBreak) {
					t.Errorf("got %v, want ErrLineBreak", err)
				}
			}
		})
	}
}

// What is no line break to a line-framed reader passes.
func TestPeerWritesWhatOnlyLooksLikeALineBreak(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		sink := open(Options{})
		sink.Start(mute{})
		frame := "{\"a\":\"\u2028\u2029\u0085\\n\\r\\u000a\"}"
		if err := sink.Send([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		if got := sink.lines(t, 1)[0]; got != frame {
			t.Errorf("got %q, want %q", got, frame)
		}
	})
}

// A CR may stand between the tokens of a line, and is a line break to some readers: a handler is
// given a space in its place.
func TestPeerReadsACRAsASpace(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source := open(Options{})
		got := make(chan string, 2)
		source.Start(newJournal(func(m *jsonrpc.Message, _ *Outgoing) { got <- string(m.Frame) }))
		go source.say(t, "{\"jsonrpc\":\r\"2.0\",\r\"method\":\"a\\rb\"\r}\r\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\r\n")
		for _, want := range []string{`{"jsonrpc": "2.0", "method":"a\rb" }`, `{"jsonrpc":"2.0","method":"m"}`} {
			if got := <-got; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}
