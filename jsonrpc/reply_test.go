package jsonrpc

import "testing"

func TestRepliesAreMessagesWithTheirBytesUntouched(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"a result", AppendResult(nil, []byte(`"a\u0062"`), []byte(`{"x": 1E2,"<":"é"}`)), `{"jsonrpc":"2.0","id":"a\u0062","result":{"x": 1E2,"<":"é"}}`},
		{"an error object", AppendErrorResponse(nil, []byte(`-1.5`), []byte(`{"code": 1,"message":"&"}`)), `{"jsonrpc":"2.0","id":-1.5,"error":{"code": 1,"message":"&"}}`},
		{"an error", AppendError(nil, []byte(`7`), CodeInvalidParams, `no "x"`, nil), `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no \"x\""}}`},
		{"an error with data", AppendError(nil, []byte(`7`), CodeInternalError, "m", []byte(`{"a":[1]}`)), `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"m","data":{"a":[1]}}}`},
		{"an error for nobody", AppendError(nil, nil, CodeParseError, "m", nil), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`},
		{"an error with a broken message", AppendError(nil, nil, CodeParseError, "a\xff\n", nil), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a` + "\uFFFD" + `\n"}}`},
		{"a notification", AppendNotification(nil, "a/b", []byte(`{"c":1}`)), `{"jsonrpc":"2.0","method":"a/b","params":{"c":1}}`},
		{"a notification without params", AppendNotification(nil, `a"b`, nil), `{"jsonrpc":"2.0","method":"a\"b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if string(tt.got) != tt.want {
				t.Errorf("got %s, want %s", tt.got, tt.want)
			}
			mustScan(t, string(tt.got))
		})
	}
	if got := string(AppendResult([]byte("before"), []byte("1"), []byte("2"))); got != `before{"jsonrpc":"2.0","id":1,"result":2}` {
		t.Errorf("appended to something: %s", got)
	}
}

func TestKindsAreSpelledAsInTheTrace(t *testing.T) {
	for kind, want := range map[Kind]string{Invalid: "invalid", Request: "request", Notification: "notification", Response: "response"} {
		if got := kind.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
