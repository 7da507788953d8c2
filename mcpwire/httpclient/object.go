package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	maxObject = 256 << 10
	getTime   = 10 * time.Second // for a response to a GET
)

// An Object is a JSON object. Its methods return the zero value for a member of another type.
type Object map[string]json.RawMessage

// Has reports whether a member is there.
func (o Object) Has(key string) bool { _, ok := o[key]; return ok }

// Text returns a string.
func (o Object) Text(key string) (s string) {
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return s
}

// Texts returns the strings in an array. It is not nil if there is an array.
func (o Object) Texts(key string) (all []string) {
	var raw []json.RawMessage
	if json.Unmarshal(o[key], &raw) != nil || raw == nil {
		return nil
	}
	all = []string{}
	for _, one := range raw {
		var s *string
		if json.Unmarshal(one, &s) == nil && s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// Bool returns a boolean.
func (o Object) Bool(key string) (b bool) {
	if json.Unmarshal(o[key], &b) != nil {
		return false
	}
	return b
}

// GetObject sends a request and reads the JSON object in the response. An empty body is an empty
// object. A body that is too large, no object or one with a key twice is an error. With the status of an error, a body that is no object
// is not: then the Object is nil. The response's Body can still be read.
func GetObject(ctx context.Context, c *http.Client, req *http.Request) (Object, *http.Response, error) {
	if req.Method == http.MethodGet || req.Method == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, getTime)
		defer cancel()
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxObject+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(body) > maxObject:
		return nil, nil, plainError(fmt.Sprintf("the response is longer than %d bytes", maxObject))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 {
		return Object{}, resp, nil // as for a token that has been revoked (RFC 7009, 2.2)
	}
	o, err := ParseObject(body)
	if err != nil && resp.StatusCode/100 == 2 {
		return nil, nil, err
	}
	return o, resp, nil
}

// ParseObject reads an object. No object in it may have a key twice. Errors do not quote it.
func ParseObject(body []byte) (o Object, err error) {
	if json.Unmarshal(body, &o) != nil || o == nil {
		return nil, plainError("the response is not a JSON object")
	}
	if hasTwice(json.NewDecoder(bytes.NewReader(body))) {
		return nil, plainError("the response is a JSON object that has a key twice")
	}
	return o, nil
}

// hasTwice reports whether an object in a JSON value has a key twice. The value is valid.
func hasTwice(d *json.Decoder) bool {
	type level struct {
		keys  map[string]bool // nil: an array
		value bool            // a value follows, not a key
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return false // the end
		}
		if delim, ok := token.(json.Delim); ok && (delim == ']' || delim == '}') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].keys != nil {
			if !open[n].value {
				key, _ := token.(string)
				if open[n].keys[key] {
					return true
				}
				open[n].keys[key], open[n].value = true, true
				continue
			}
			open[n].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}
