// Package scan reads JSON text without decoding it: it checks that the text is valid JSON in valid
// UTF-8, and finds where its values begin and end.
//
// It knows nothing of JSON-RPC. Package jsonrpc walks the members of a message with First, Key,
// Value and After, and notes the places that they return.
package scan
