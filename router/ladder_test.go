package router

import (
	"context"
	"testing"
)

func TestASignalLeavesServersLessTime(t *testing.T) {
	ctx, signal := context.WithCancel(context.Background())
	defer signal()
	o := &Options{Signalled: ctx}
	if got := o.ladder(); got != normalLadder {
		t.Errorf("before a signal: got %v, want %v", got, normalLadder)
	}
	signal()
	if got := o.ladder(); got != shortLadder {
		t.Errorf("after a signal: got %v, want %v", got, shortLadder)
	}
	if got := new(Options).ladder(); got != normalLadder {
		t.Errorf("without signals: got %v, want %v", got, normalLadder)
	}
}
