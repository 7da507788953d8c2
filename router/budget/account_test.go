package budget

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func TestAClientHasOneAccountHoweverItAsks(t *testing.T) {
	b := New(Limits{Sessions: 2}, Limits{Sessions: 3})
	alice := Principal{Issuer: "i", Subject: "alice"}
	a := b.Open(alice)
	elsewhere := alice
	elsewhere.Path, elsewhere.Restricted, elsewhere.Toolsets = "reading", true, "a"
	if other := b.Open(elsewhere); other != a {
		t.Error("another path or other permissions are another account")
	}
	if bob := b.Open(Principal{Issuer: "i", Subject: "bob"}); bob == a {
		t.Error("two subjects have one account")
	}
	a.Close()
	if again := b.Open(alice); again != a {
		t.Error("the account is forgotten while it is open")
	}
	a.Close()
	a.Close()
	if n := b.Accounts(); n != 1 {
		t.Errorf("%d accounts are kept, want 1", n)
	}
	if b.Open(Principal{}) != b.Open(Principal{Path: "x"}) {
		t.Error("clients without a credential have several accounts")
	}
}

func TestLimits(t *testing.T) {
	b := New(Limits{Sessions: 2, Bytes: 100}, Limits{Sessions: 3})
	for _, tt := range []struct {
		who   Principal
		most  int
		where string
	}{{Principal{Issuer: "i"}, 2, "(sessions in [http.limits])"}, {Principal{}, 3, "[http.tokens]"}} {
		a := b.Open(tt.who)
		for range tt.most {
			if err := a.Take(Sessions, 1); err != nil {
				t.Fatal(err)
			}
		}
		err := a.Take(Sessions, 1)
		limit, ok := errors.AsType[*LimitError](err)
		if !ok || limit.Resource != Sessions || limit.Limit != int64(tt.most) || !strings.Contains(err.Error(), tt.where) {
			t.Errorf("one session too many: %v", err)
		}
		if a.Give(Sessions, 1); a.Take(Sessions, 1) != nil {
			t.Error("what was given back cannot be taken")
		}
	}
	a := b.Open(Principal{Issuer: "j"})
	if a.Take(Bytes, 101) == nil || a.Take(Bytes, 60) != nil || a.Take(Bytes, 41) == nil || a.Take(Bytes, 40) != nil || a.Used(Bytes) != 100 {
		t.Errorf("%d bytes are taken", a.Used(Bytes))
	}
	if a.Take(Calls, 1<<40) != nil {
		t.Error("0 is a limit")
	}
	var none *Account
	if none.Take(Bytes, 1<<60) != nil || none.Used(Bytes) != 0 || !none.shared() {
		t.Error("a nil account has limits")
	}
	none.Give(Bytes, 1)
	none.Close()
}

// Whatever many goroutines take at once, no more than the limit is out, and all comes back.
func TestManyTakeAtOnce(t *testing.T) {
	b := New(Limits{Calls: 10}, Limits{})
	var out, most int
	var mu sync.Mutex
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		out += n
		most = max(most, out)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 200 {
				a := b.Open(Principal{Issuer: "i"})
				if a.Take(Calls, 1) == nil {
					count(1)
					count(-1)
					a.Give(Calls, 1)
				}
				a.Close()
			}
		})
	}
	all.Wait()
	if most > 10 || b.Accounts() != 0 {
		t.Errorf("%d were out at once, and %d accounts are left", most, b.Accounts())
	}
}

// A visit is a Session that is told when it is idle.
type visit struct {
	a    *Account
	left time.Time
	busy bool
}

func (v *visit) IdleSince() (time.Time, bool) { return v.left, v.busy }
func (v *visit) EndIdle()                     { v.a.GiveSession(v) }

func TestTheSessionThatIsIdleForLongestMakesRoom(t *testing.T) {
	a := New(Limits{Sessions: 3, Processes: 8}, Limits{}).Open(Principal{Issuer: "i"})
	begin := func(left int, busy bool) *visit {
		t.Helper()
		if err := a.TakeSession(); err != nil {
			t.Fatal(err)
		}
		v := &visit{a, time.Unix(int64(left), 0), busy}
		a.Hold(v)
		return v
	}
	has := func(want ...*visit) {
		t.Helper()
		if len(a.sessions) != len(want) || a.Used(Sessions) != int64(len(want)) {
			t.Errorf("there are %d sessions, and %d are counted", len(a.sessions), a.Used(Sessions))
		}
		for _, v := range want {
			if _, ok := a.sessions[v]; !ok {
				t.Errorf("%v has ended", v)
			}
		}
	}
	first, second := begin(1, true), begin(3, false)
	begin(2, false)
	fourth := begin(4, true)
	has(first, second, fourth) // the third was idle for longer than the second
	fifth := begin(5, true)
	has(first, fourth, fifth)
	var limit *LimitError
	if err := a.TakeSession(); !errors.As(err, &limit) || limit.Resource != Sessions {
		t.Errorf("with busy sessions only: %v", err)
	}
	first.EndIdle()
	fourth.busy = false
	if err := a.Take(Processes, 6); err != nil {
		t.Fatal(err)
	}
	sixth := begin(6, true) // there is room for it, but few processes are left
	has(fifth, sixth)
}

func TestAReaderCountsWhatItReads(t *testing.T) {
	a := New(Limits{Bytes: 100}, Limits{}).Open(Principal{Issuer: "i"})
	kept := a.Reader(strings.NewReader(strings.Repeat("x", 40)))
	if text, err := io.ReadAll(kept); err != nil || len(text) != 40 || a.Used(Bytes) != 40 {
		t.Fatalf("%d bytes, %v; %d are counted", len(text), err, a.Used(Bytes))
	}
	n := kept.Detach()
	if kept.Close(); n != 40 || a.Used(Bytes) != 40 {
		t.Errorf("%d of %d bytes are detached", n, a.Used(Bytes))
	}
	long := a.Reader(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 61))))
	text, err := io.ReadAll(long)
	if limit, ok := errors.AsType[*LimitError](err); !ok || limit.Resource != Bytes || len(text) != 60 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if long.Close(); a.Used(Bytes) != 40 {
		t.Errorf("%d bytes are counted after Close", a.Used(Bytes))
	}
}
