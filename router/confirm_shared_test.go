package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/jsonrpc/peer"
	"toolman/router/client"
	"toolman/router/upstream"
)

// joins makes another session of a rig.
func (g *rig) joins(out peer.Sender, l *link, who client.Info) {
	s := g.r.NewSession(out, who)
	l.handler = s
}

// What one client's person has agreed to, no other client can use.
func TestConsentBelongsToItsSession(t *testing.T) {
	bothEras(t, func(t *testing.T, modern bool) {
		d := newCautiousDialog(t, modern)
		upstream.Simulate(d.g.r.all()[0]).Share()
		other := &link{t: t}
		d.g.joins(other, other, client.Info{})
		state := d.demanded("1")
		other.says(capableCall("1", "tools/call", echoParams, able, retryMembers(state, agree)))
		wantCode(t, other.hearsOne(), "1", -32602)
		d.server.wants()
		d.retry("2", state, agree)
		d.ran()
		other.wants()
	})
}

// A streamed client hears each of its requests on a stream of its own.
type streamed struct {
	*link
	during map[string]*link
}

func (s *streamed) During(id []byte) peer.Sender {
	if l := s.during[string(id)]; l != nil {
		return l
	}
	return nil
}

// The question belongs to the call.
func TestTheQuestionComesOnTheStreamOfTheCall(t *testing.T) {
	g := newCautious(t, setup{silent: true}, false)
	out := &streamed{&link{t: t}, map[string]*link{"5": {t: t}, "6": {t: t}}}
	g.joins(out, out.link, client.Info{Sole: true})
	out.initialize(everything)
	out.hears()
	out.says(fmt.Sprintf(echo, "5", "{}"), fmt.Sprintf(echo, "6", "{}"))
	asked := out.during["6"].hearsOne()
	if len(out.during["5"].hears()) != 1 || !strings.Contains(asked, mayEcho) {
		t.Errorf("asked %s", asked)
	}
	out.wants()
	out.says(reply(idOf(t, asked), accept))
	g.server.says(reply(idOf(t, g.server.hearsOne()), `{"content":[]}`))
	out.wants(reply("6", `{"content":[]}`))
}
