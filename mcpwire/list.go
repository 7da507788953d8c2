package mcpwire

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
)

// A Page is one page of a list.
type Page struct {
	Items []Item
	// Next is the cursor of the next page; More says whether there is one. The
	// empty string is a cursor like any other.
	Next string
	More bool
	// Odd says what was wrong with items that had to be left out.
	Odd []error
}

// ParsePage reads the result of a list request. The items keep parts of result.
func ParsePage(k Kind, result []byte) (Page, error) {
	m := jsonrpc.Message{Frame: result}
	whole := jsonrpc.Span{Lo: 0, Hi: len(result)}
	items, err := m.Get(whole, k.Member())
	if err != nil {
		return Page{}, err
	}
	if !items.Present() || result[items.Lo] != '[' {
		return Page{}, fmt.Errorf("the result of %s has no list %q", k.ListMethod(), k.Member())
	}
	var page Page
	for at := range jsonrpc.Elements(result, items) {
		item, err := parseItem(k, result[at.Lo:at.Hi])
		if err != nil {
			page.Odd = append(page.Odd, err)
			continue
		}
		page.Items = append(page.Items, item)
	}
	cursor, err := m.Get(whole, "nextCursor")
	if err != nil {
		page.Odd = append(page.Odd, err)
		return page, nil
	}
	if cursor.Present() && !bytes.Equal(m.Bytes(cursor), []byte("null")) {
		if !m.IsString(cursor) {
			page.Odd = append(page.Odd, fmt.Errorf("the cursor of %s is not a string", k.ListMethod()))
			return page, nil
		}
		page.Next, page.More = string(m.Text(cursor)), true
	}
	return page, nil
}
