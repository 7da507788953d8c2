package dial

import (
	"testing"
	"time"
)

func TestRestartsBecomeRareAndBeginAnewAfterStableMinutes(t *testing.T) {
	b := Restarts()
	for i, least := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		if got := b.Next(time.Second).Seconds(); got < float64(least) || got > float64(min(2*least, 60)) {
			t.Errorf("pause %d is %v s, want %d to %d s", i+1, got, least, min(2*least, 60))
		}
	}
	for range 3 {
		if got := b.Next(4 * time.Minute); got != 5*time.Minute {
			t.Errorf("after %d failures the pause is %v", b.Failures, got)
		}
	}
	if got := b.Next(5 * time.Minute); b.Failures != 1 || got > 2*time.Second {
		t.Errorf("after 5 stable minutes there are %d failures, and the pause is %v", b.Failures, got)
	}
}

func TestRestartsAreSpread(t *testing.T) {
	pauses := map[time.Duration]bool{}
	for range 20 {
		pauses[Restarts().Next(0)] = true
	}
	if len(pauses) < 10 {
		t.Errorf("20 servers that end together have %d different pauses", len(pauses))
	}
}

func TestReconnectsStayWithinHalfAMinute(t *testing.T) {
	b := Reconnects()
	for i, want := range []int{1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30} {
		if got := b.Next(0); got != time.Duration(want)*time.Second {
			t.Errorf("pause %d is %v, want %d s", i+1, got, want)
		}
	}
	if got := b.Next(30 * time.Second); got != time.Second {
		t.Errorf("after a stable connection the pause is %v", got)
	}
}
