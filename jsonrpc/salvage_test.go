package jsonrpc

import (
	"strings"
	"testing"
)

func TestSalvageIDFindsTheCallOfAResponseThatCannotBeRead(t *testing.T) {
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, head, tail string
		id               uint64
	}{
		{"as the Go SDK writes", `{"jsonrpc":"2.0","id":17,"result":{"content":[`, long, 17},
		{"as the Python SDK writes an error", `{"jsonrpc":"2.0","id":17,"error":{"code":`, long, 17},
		{"with the id first", `{"id" : 17 , "jsonrpc":"2.0","result":`, long, 17},
		{"without a version", ` { "id":17, "result":`, long, 17},
		{"as the TypeScript SDK writes", `{"result":{"content":[`, long + `"}]},"jsonrpc":"2.0","id":17}`, 17},
		{"with the version last", `{"jsonrpc":"2.0","result":{"content":[`, long + `"}]},"id":17,"jsonrpc":"2.0"}`, 17},
		{"with spaces at the end", `{"result":{}`, `}, "id" : 17 } `, 17},
		{"a request with its id first", `{"jsonrpc":"2.0","id":17,"method":"sampling/createMessage","params":{`, long, 0},
		{"a request with its id last", `{"method":"sampling/createMessage","params":{"x":"`, long + `"},"jsonrpc":"2.0","id":17}`, 0},
		{"an id inside a result", `{"jsonrpc":"2.0","result":{"id":17,"x":`, long, 0},
		{"a text id", `{"jsonrpc":"2.0","id":"17","result":`, long, 0},
		{"a broken id", `{"jsonrpc":"2.0","id":1.5,"result":`, long, 0},
		{"an endless id", `{"jsonrpc":"2.0","id":` + strings.Repeat("1", 40) + `,"result":`, long, 0},
		{"an id inside a text", `{"result":"`, `,"id":17}"}`, 0},
		{"an id too far from the end", `{"result":"`, `,"id":17}` + long, 0},
		{"a banner", `Listening on stdio, id 17`, ``, 0},
		{"nothing", ``, ``, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if id, ok := SalvageID([]byte(tt.head), []byte(tt.tail)); id != tt.id || ok != (tt.id != 0) {
				t.Errorf("got %d, %v, want %d", id, ok, tt.id)
			}
		})
	}
}
