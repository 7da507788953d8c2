package peer

import "testing"

// put queues n bytes.
func (o *outbox) put(n int) {
	o.roomLocked(n)
	o.buf = append(o.buf, make([]byte, n)...)
}

func TestOutboxStaysTheSizeOfWhatWaits(t *testing.T) {
	o := outbox{limit: 1 << 20}
	o.put(100_000)
	for range 1000 { // never quite empty
		o.put(50_000)
		o.wroteLocked(50_000)
		if o.waiting() != 100_000 {
			t.Fatalf("%d bytes wait", o.waiting())
		}
	}
	if cap(o.buf) > 1_000_000 {
		t.Errorf("100,000 bytes wait in %d", cap(o.buf))
	}
}

func TestOutboxGivesAwayWhatOnlyABurstNeeded(t *testing.T) {
	o := outbox{limit: 64 << 20}
	for range 3 { // the same memory serves large frames that follow each other
		o.put(8 << 20)
		for o.waiting() > 0 {
			o.wroteLocked(64 << 10)
		}
		if cap(o.buf) < 8<<20 {
			t.Errorf("memory for large frames was given away between them")
		}
	}
	for range 2 {
		o.put(100)
		o.wroteLocked(100)
	}
	if cap(o.buf) > keepCap {
		t.Errorf("%d bytes are kept for small frames", cap(o.buf))
	}
}

func TestOutboxReleasesWhenHalfEmptyOrClosed(t *testing.T) {
	o := outbox{limit: 1000, paused: []*Peer{{}}}
	o.put(1500)
	o.wroteLocked(999)
	if o.releaseLocked() != nil {
		t.Error("released while more than half the limit waits")
	}
	o.wroteLocked(1)
	if len(o.releaseLocked()) != 1 || o.paused != nil {
		t.Error("not released at half the limit")
	}
	o = outbox{limit: 1000, paused: []*Peer{{}}, closed: true}
	o.put(1500)
	if len(o.releaseLocked()) != 1 {
		t.Error("not released when closed")
	}
}
