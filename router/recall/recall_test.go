package recall_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
	"toolman/router/recall"
)

// offered is what a server with these tools offers.
func offered(t testing.TB, tools ...string) *recall.Offered {
	t.Helper()
	page, err := mcpwire.ParsePage(mcpwire.Tool, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	o := &recall.Offered{Result: mcpwire.InitializeResult{ProtocolVersion: mcpwire.Latest,
		Capabilities: map[string]json.RawMessage{"tools": json.RawMessage(`{"listChanged":true}`)}, Instructions: "text"}}
	o.Lists[mcpwire.Tool] = page.Items
	return o
}

const tool = `{"name":"a","description":"d","inputSchema":{ "type" : "object" },"odd":"\u00e9 \n"}`

// file is what is written of an Offered.
func file(t testing.TB, o *recall.Offered) []byte {
	t.Helper()
	h := recall.Header{Server: "s", Config: "/c/tools.toml", Client: "key", Name: "client"}
	if err := h.Prepare(o); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := recall.Write(&b, &h, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAFileHasWhatWasWritten(t *testing.T) {
	for _, tools := range [][]string{nil, {tool}, {tool, "{\n\"name\":\"b\"\n}"}} {
		o := offered(t, tools...)
		text := file(t, o)
		h, err := recall.ReadHeader(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := recall.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Client != "key" || got.Result.ProtocolVersion != mcpwire.Latest || !got.Result.OffersFlag("tools", "listChanged") || h.Server != "s" || h.Items[mcpwire.Tool] != len(tools) {
			t.Errorf("got %+v, %+v", got, h)
		}
		for i, item := range got.Lists[mcpwire.Tool] {
			if string(item.Raw) != tools[i] {
				t.Errorf("got the tool %s, want %s", item.Raw, tools[i])
			}
		}
		if len(got.Lists[mcpwire.Tool]) != len(tools) {
			t.Errorf("got %d tools", len(got.Lists[mcpwire.Tool]))
		}
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	text := file(t, offered(t, tool))
	for n := range text {
		if _, err := recall.Parse(text[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken", n, len(text))
		}
	}
	sections := bytes.Index(text, []byte(`{"jsonrpc"`))
	for n := sections; n < len(text); n++ {
		bad := bytes.Clone(text)
		bad[n] ^= 1
		if _, err := recall.Parse(bad); err == nil {
			t.Fatalf("a damage at %d is not noticed", n)
		}
	}
	if _, err := recall.Parse(append(bytes.Clone(text), ' ')); err == nil {
		t.Error("more than was written is taken")
	}
}

func TestWhatIsTooLargeIsNotWritten(t *testing.T) {
	h := recall.Header{}
	if err := h.Prepare(offered(t, `{"name":"a","description":"`+strings.Repeat("x", recall.MaxBytes)+`"}`)); err == nil {
		t.Error("it is taken")
	}
}

func TestClientsToWhichServersMayOfferOtherItems(t *testing.T) {
	hello := func(name, capabilities string) *mcpwire.Hello {
		return &mcpwire.Hello{Name: name, NameVersion: fmt.Sprint(time.Now()), Capabilities: json.RawMessage(capabilities)}
	}
	one := recall.ClientOf(mcpwire.Legacy, hello("a", `{}`))
	if again := recall.ClientOf(mcpwire.Legacy, hello("a", ``)); again != one {
		t.Error("another version of a client counts as another client")
	}
	for _, other := range []recall.Client{recall.ClientOf(mcpwire.Modern, hello("a", `{}`)), recall.ClientOf(mcpwire.Legacy, hello("b", `{}`)),
		recall.ClientOf(mcpwire.Legacy, hello("a", `{"roots":{}}`))} {
		if other.Key == one.Key {
			t.Errorf("%+v counts as %+v", other, one)
		}
	}
}

// A notebook is a Memory that counts what is stored.
type notebook struct {
	mu   sync.Mutex
	n    int
	fail bool
}

func (*notebook) Recall(string) *recall.Offered { return nil }

func (b *notebook) Remember(recall.Client, *recall.Offered) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	if b.fail {
		return errors.New("the disk is full")
	}
	return nil
}

func (b *notebook) stored() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func TestAServerThatChangesAllTheTimeIsStoredNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ended, busy := &notebook{}, make(chan struct{}), &recall.Busy{}
		k := recall.Keeper{Memory: b, Offers: func() (recall.Client, *recall.Offered) { return recall.Client{}, offered(t, tool) }, Ended: ended, Failed: func(error) {}, Busy: busy}
		k.Changed()
		busy.Wait(time.Second)
		if n := b.stored(); n != 1 {
			t.Fatalf("stored %d times at first", n)
		}
		for range 1000 {
			k.Changed()
			time.Sleep(100 * time.Millisecond)
		}
		if n := b.stored(); n < 9 || n > 11 {
			t.Errorf("stored %d times in 100 s", n)
		}
		k.Changed()
		close(ended) // what waits is dropped
		synctest.Wait()
		busy.Wait(time.Second)
	})
}

func TestNothingIsStoredOfAServerWhoseListsAreNotWhole(t *testing.T) {
	b, busy := &notebook{}, &recall.Busy{}
	k := recall.Keeper{Memory: b, Offers: func() (recall.Client, *recall.Offered) { return recall.Client{}, nil }, Failed: func(error) {}, Busy: busy}
	k.Changed()
	busy.Wait(time.Minute)
	none := recall.Keeper{}
	none.Changed()
	if b.stored() != 0 {
		t.Error("it was stored")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(f, offered(f)))
	f.Add(file(f, offered(f, tool, tool)))
	f.Add([]byte("toolman catalog 1\n{\"sizes\":[1,1,1,1,1]}\n12345"))
	f.Add([]byte("toolman catalog 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := recall.Parse(text)
		if err != nil {
			return
		}
		again, err := recall.Parse(file(t, o))
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		for k, items := range o.Lists {
			if len(again.Lists[k]) != len(items) {
				t.Fatalf("%d items became %d", len(items), len(again.Lists[k]))
			}
		}
	})
}

// Sections whose digest is right are judged like the responses of a server.
func FuzzSection(f *testing.F) {
	f.Add([]byte(`{"name":"a"}`))
	f.Add([]byte(`{"name":"a","name":"b"}`))
	f.Add([]byte(`]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := offered(t)
		o.Lists[mcpwire.Tool] = []mcpwire.Item{{Kind: mcpwire.Tool, Name: "a", Raw: raw}}
		h := recall.Header{}
		if h.Prepare(o) != nil {
			return
		}
		var b bytes.Buffer
		if err := recall.Write(&b, &h, o); err != nil {
			t.Fatal(err)
		}
		if got, err := recall.Parse(b.Bytes()); err == nil {
			for _, item := range got.Lists[mcpwire.Tool] {
				item.Rename("new")
				item.AlwaysLoad()
				item.HintsReadOnly()
			}
		}
	})
}
