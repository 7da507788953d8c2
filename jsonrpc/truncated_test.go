package jsonrpc

import (
	"strings"
	"testing"
)

func TestPeekShowsWhatAMessageThatIsTooLongIs(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, tt := range []struct{ name, head, tail, id, method string }{
		{"the id first", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"`, long + `"}}`, `5`, "tools/call"},
		{"the id behind the method", ` { "method" : "tools/call" , "id" : "a\u0062" , "params" : [`, long + `"]}`, `"a\u0062"`, "tools/call"},
		{"the id last, as the TypeScript SDK writes", `{"method":"tools/call","params":{"x":"`, long + `"},"jsonrpc":"2.0","id":5}`, `5`, "tools/call"},
		{"the version last", `{"method":"tools/call","params":{"x":"`, long + `"}, "id" : "a\"b" , "jsonrpc":"2.0" } `, `"a\"b"`, "tools/call"},
		{"ids that are odd", `{"id":-1.5e3,"method":"x","params":"`, long, `-1.5e3`, "x"},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"x":"`, long + `"}}`, "", "notifications/message"},
		{"a notification with an id inside", `{"method":"notifications/message","params":{"id":1,"x":"`, long + `","id":2}}`, "", "notifications/message"},
		{"a notification with an id inside a text", `{"method":"notifications/message","x":"`, long + `,\"id\":2}"}`, "", "notifications/message"},
		{"an id that is cut", `{"method":"x","id":12`, long, "", "x"},
		{"an id that is null", `{"method":"x","id":null,"params":"`, long, "", "x"},
		{"an id that is an object", `{"method":"x","id":{"id":1},"params":"`, long, "", "x"},
		{"an id that is no text", "{\"method\":\"x\",\"id\":\"\xff\",\"params\":\"", long, "", "x"},
		{"an id that is no number", `{"method":"x","params":"`, long + `","id":1.e}`, "", "x"},
		{"two ids", `{"method":"x","id":1,"id":2,"params":"`, long, "", ""},
		{"two methods", `{"method":"x","id":1,"m\u0065thod":"y","params":"`, long, "", ""},
		{"a method that is no text", `{"method":1,"id":1,"params":"`, long, "1", ""},
		{"look-alikes", `{"Method":"x","ID":1,"params":"`, long, "", ""},
		{"a result with its id last", `{"result":"`, long + `","id":1}`, "", ""},
		{"a banner", `Listening, "method":"x","id":1,`, long, "", ""},
		{"a list", `[{"method":"x","id":1,"params":"`, long, "", ""},
		{"nothing", ``, ``, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, method := (&TooLongError{Head: []byte(tt.head), Tail: []byte(tt.tail)}).Peek()
			if string(id) != tt.id || method != tt.method {
				t.Errorf("got %s, %q, want %s, %q", id, method, tt.id, tt.method)
			}
		})
	}
}

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
