package hop

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolman/router/budget"
)

// principalOf returns a principal with each of its fields.
func principalOf(t testing.TB) budget.Principal {
	t.Helper()
	var p budget.Principal
	v := reflect.ValueOf(&p).Elem()
	for n := range v.NumField() {
		switch f := v.Field(n); f.Kind() {
		case reflect.String:
			f.SetString("ä \"" + v.Type().Field(n).Name)
		case reflect.Bool:
			f.SetBool(true)
		default:
			t.Fatalf("budget.Principal has a field of a new kind: %s", v.Type().Field(n).Name)
		}
	}
	return p
}

func TestHeadIsReadAsItWasSet(t *testing.T) {
	for _, want := range []Head{
		{Version: Version, From: "a", To: "b", Hops: 1},
		{Version: Version, From: "a", To: "b", Unit: "u", RequestID: "r", Principal: principalOf(t), Addr: netip.MustParseAddr("fe80::1%eth0"),
			Expires: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC), Hops: MaxHops, Local: true},
	} {
		h := http.Header{headerHead: {"forged", "twice"}}
		if err := want.Set(h); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadHead(h); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
}

func TestMalformedHeads(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for name, values := range map[string][]string{
		"none":             nil,
		"two":              {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1}`)), encode([]byte(`{"v":1,"from":"a","to":"b","hops":1}`))},
		"empty":            {""},
		"not Base64":       {"{}"},
		"padded":           {"e30="},
		"not JSON":         {encode([]byte("x"))},
		"nothing in it":    {encode([]byte("{}"))},
		"old version":      {encode([]byte(`{"v":0,"from":"a","to":"b","hops":1}`))},
		"future version":   {encode([]byte(`{"v":3,"from":"a","to":"b","hops":1}`))},
		"unknown right":    {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1,"who":{"readonly":true}}`))},
		"two values":       {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1}{}`))},
		"no receiver":      {encode([]byte(`{"v":1,"from":"a","hops":1}`))},
		"no sender":        {encode([]byte(`{"v":1,"to":"a","hops":1}`))},
		"no hops":          {encode([]byte(`{"v":1,"from":"a","to":"b"}`))},
		"negative hops":    {encode([]byte(`{"v":1,"from":"a","to":"b","hops":-1}`))},
		"too many hops":    {encode([]byte(`{"v":1,"from":"a","to":"b","hops":3}`))},
		"not an address":   {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1,"addr":"x"}`))},
		"line break in it": {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1,"id":"a\nb"}`))},
		"too long":         {encode([]byte(`{"v":1,"from":"a","to":"b","hops":1,"unit":"` + strings.Repeat("x", maxHead) + `"}`))},
	} {
		if h, err := ReadHead(http.Header{headerHead: values}); err == nil {
			t.Errorf("%s is read as %+v", name, h)
		}
	}
}

func TestServerRefusesMalformedHeads(t *testing.T) {
	h := handler{"bbbbbbbb", func(http.ResponseWriter, *http.Request, Head) { t.Error("it is served") }}
	for name, change := range map[string]func(*http.Request){
		"no head":   func(r *http.Request) {},
		"forged":    func(r *http.Request) { r.Header.Set(headerHead, "x") },
		"plaintext": func(r *http.Request) { head().Set(r.Header); r.TLS = nil },
	} {
		r := httptest.NewRequest("GET", "https://x/", nil)
		change(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest && w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

func TestHopsAreCounted(t *testing.T) {
	h := head()
	h.Hops = MaxHops + 1
	got := newClient(t, identity(t, 1)).Forward(t.Context(), httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), nil, "127.0.0.1:1", h)
	if got.Err != errHops || got.Sent || got.Refused {
		t.Errorf("got %+v", got)
	}
}

func TestLongPrincipalIsNotSent(t *testing.T) {
	h := head()
	h.Principal.Toolsets = strings.Repeat("x", maxHead)
	if err := h.Set(http.Header{}); err == nil {
		t.Error("it is set")
	}
}

// FuzzReadHead checks that what is read can be set and read again.
func FuzzReadHead(f *testing.F) {
	h := http.Header{}
	full := Head{From: "a", To: "b", Unit: "u", RequestID: "r", Principal: principalOf(f), Addr: netip.MustParseAddr("::1"), Expires: time.Unix(1, 2), Hops: 2, Local: true}
	if err := full.Set(h); err != nil {
		f.Fatal(err)
	}
	text, _ := base64.RawURLEncoding.DecodeString(h.Get(headerHead))
	f.Add(text, h.Get(headerHead))
	f.Add([]byte(`{"v":1,"from":"a","to":"b","hops":1}`), "e30")
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		for _, value := range []string{value, base64.RawURLEncoding.EncodeToString(text)} {
			got, err := ReadHead(http.Header{headerHead: {value}})
			if err != nil {
				continue
			}
			h := http.Header{}
			if err := got.Set(h); err != nil {
				continue // longer than it was: what JSON escapes
			}
			again, err := ReadHead(h)
			if !got.Expires.Equal(again.Expires) {
				t.Fatalf("%v became %v", got.Expires, again.Expires)
			}
			again.Expires = got.Expires
			if err != nil || !reflect.DeepEqual(got, again) {
				t.Fatalf("%+v became %+v, %v", got, again, err)
			}
		}
	})
}
