package bridge

import (
	"encoding/json"

	"toolman/router"
	"toolman/router/httpd/bridge/provider"
)

// A Shape is how tools are listed. The zero value is the bridge's own.
type Shape struct {
	Format provider.Format // "": the bridge's own
	Slim   bool            // without what costs tokens and changes nothing
}

// bytesPerToken is how many bytes of JSON make a token, by rule of thumb.
const bytesPerToken = 4

// Tokens estimates how many tokens a model needs for so many bytes of JSON.
func Tokens(bytes int) int { return bytes / bytesPerToken }

// List is tools as JSON, and how many bytes of it Slim has saved.
func List(tools []router.Tool, as Shape) (text []byte, saved int, err error) {
	text, err = as.list(tools)
	if err != nil || !as.Slim {
		return text, 0, err
	}
	whole, err := Shape{Format: as.Format}.list(tools)
	return text, len(whole) - len(text), err
}

func (as Shape) list(tools []router.Tool) ([]byte, error) {
	var of []provider.Tool
	listed := []tool{}
	for _, t := range tools {
		one := forModel(t)
		if as.Slim {
			one = one.Slim()
		}
		of = append(of, one)
		d := described(t)
		d.Description, d.Schema = one.Description, one.Schema
		listed = append(listed, d)
	}
	if as.Format == "" {
		return encode(listed)
	}
	return provider.Tools(as.Format, of)
}

// forModel is a tool as providers know it.
func forModel(t router.Tool) provider.Tool {
	name := provider.Name(t.Source.Name, t.Item.Name)
	return provider.Tool{Name: name, Description: t.Item.Description, Schema: schemaOf(t.Entry),
		Raw: json.RawMessage(t.Item.AppendWith(nil, t.Item.Rename(name)))}
}
