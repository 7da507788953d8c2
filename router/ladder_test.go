package router

import (
	"context"
	"testing"
)

func TestASignalLeavesServersLessTime(t *testing.T) {
	ctx, signal := context.WithCancel(context.Background())
	defer signal()
	o := &Options{Signalled: ctx}
	if got := o.ladder(); got != patient {
		t.Errorf("before a signal: got %v, want %v", got, patient)
	}
	signal()
	if got := o.ladder(); got != brisk {
		t.Errorf("after a signal: got %v, want %v", got, brisk)
	}
	if got := new(Options).ladder(); got != patient {
		t.Errorf("without signals: got %v, want %v", got, patient)
	}
}
