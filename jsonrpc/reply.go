package jsonrpc

import (
	"encoding/json"
	"strconv"
)

// AppendResult appends a response. The id is a JSON token and goes out as it
// is, like the result.
func AppendResult(dst, id, result []byte) []byte {
	dst = appendReply(dst, id, `,"result":`)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendErrorResponse appends an error response whose error object is given as
// JSON.
func AppendErrorResponse(dst, id, object []byte) []byte {
	dst = appendReply(dst, id, `,"error":`)
	dst = append(dst, object...)
	return append(dst, '}')
}

// AppendError appends an error response. A nil id stands for an id that could
// not be read and goes out as null (JSON-RPC 2.0, section 5); data is JSON or nil.
func AppendError(dst, id []byte, code int64, message string, data json.RawMessage) []byte {
	dst = appendReply(dst, id, `,"error":{"code":`)
	dst = strconv.AppendInt(dst, code, 10)
	dst = append(dst, `,"message":`...)
	dst = AppendQuoted(dst, message)
	if data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, data...)
	}
	return append(dst, "}}"...)
}

func appendReply(dst, id []byte, next string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, id...)
	return append(dst, next...)
}

// AppendNotification appends a notification; nil params are left out.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = AppendQuoted(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}
