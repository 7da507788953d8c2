package hop

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestReplicasThatHaveEndedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool{idle: map[string][]*conn{}, dropped: map[string]time.Time{}}
		p.drop("10.0.0.1:8901")
		time.Sleep(2 * clientIdle)
		synctest.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.dropped) != 0 || p.sweeping {
			t.Errorf("%v are remembered, sweeping %t", p.dropped, p.sweeping)
		}
	})
}
