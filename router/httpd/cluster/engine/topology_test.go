package engine

import (
	"fmt"
	"strings"
	"testing"

	"toolman/fixtures/process"
	"toolman/fixtures/valkey"
)

func TestSentinel(t *testing.T) {
	primary := valkey.Start(t, "--repl-diskless-sync-delay", "0")
	replica := valkey.Start(t, "--replicaof", strings.ReplaceAll(primary.Addr, ":", " "))
	eventually(t, "the replica is connected", func() bool { return strings.Contains(primary.Command("ROLE"), "\n127.0.0.1\n") })
	sentinel := valkey.Sentinel(t, "mymaster", primary)
	eventually(t, "Sentinel knows the replica", func() bool {
		return strings.Contains(sentinel.Command("SENTINEL", "REPLICAS", "mymaster"), replica.Addr)
	})
	sentinel.Kill()

	a := opened(t, sentinel.URL+"?master_set=mymaster", "aaaaaaaa")
	if _, err := a.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("without Sentinel: %v", err)
	}
	sentinel.Restart()
	join(t, a)
	beat(t, a)
	put(t, a, "unit", "key", "record")
	eventually(t, "the replica has it all", func() bool { return replica.Command("GET", a.counter()) == "1" })
	eventually(t, "Sentinel knows the replica", func() bool {
		return strings.Contains(sentinel.Command("SENTINEL", "REPLICAS", "mymaster"), replica.Addr)
	})
	primary.Kill()
	eventually(t, "the replica is used", func() bool { _, _, err := a.Beat(soon(t), Lease{}); return err == nil })
	wantRecord(t, a, "key", "record")
	wantOwner(t, a, "unit", "aaaaaaaa")
}

func TestValkeyCluster(t *testing.T) {
	s := valkey.New(t, "--cluster-enabled", "yes", "--cluster-port", process.FreePort(t))
	url := s.URL + "?addr=" + s.Addr
	a := opened(t, url, "aaaaaaaa")
	if _, err := a.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("without an engine: %v", err)
	}
	s.Restart()
	var slots []string
	for i := range 16384 {
		slots = append(slots, fmt.Sprint(i))
	}
	s.Command(append([]string{"CLUSTER", "ADDSLOTS"}, slots...)...)
	eventually(t, "the cluster is complete", func() bool { return strings.Contains(s.Command("CLUSTER", "INFO"), "cluster_state:ok") })
	eventually(t, "it joins", func() bool { _, err := a.Join(soon(t)); return err == nil })
	b := joined(t, url, "bbbbbbbb")
	beat(t, a)
	if members, _ := beat(t, b); len(members) != 2 {
		t.Errorf("%+v", members)
	}
	put(t, a, "unit", "key", "record")
	if owner, fresh := claim(t, b, "unit", "aaaaaaaa"); owner != "bbbbbbbb" || fresh {
		t.Errorf("owner %s, %t", owner, fresh)
	}
	wantRecord(t, b, "key", "record")
	if missing, err := b.Renew(soon(t), []string{"unit"}, []string{"key", "none"}, ttl); err != nil || !missing {
		t.Error(missing, err)
	}
	if ok, err := b.SetDocument(soon(t), "d", []byte("text"), 0); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := b.Take(soon(t), "bucket", 1, 1, 1); err != nil {
		t.Error(err)
	}

	single := opened(t, valkey.Start(t).URL+"?addr=127.0.0.1:1", "cccccccc")
	if _, err := single.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "master_set=NAME") {
		t.Errorf("several addresses of an engine without cluster: %v", err)
	}
}
