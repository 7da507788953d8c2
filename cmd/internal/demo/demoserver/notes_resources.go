package demoserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const noteScheme = "note://"

// A resource is a note as it is listed.
type resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	MimeType    string `json:"mimeType"`
}

type template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Description string `json:"description"`
	MimeType    string `json:"mimeType"`
}

type contents struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
}

func (n *notes) listResources(json.RawMessage) (any, error) {
	list := []resource{}
	for _, x := range n.open() {
		list = append(list, resource{x.uri(), fmt.Sprintf("note %d", x.ID), x.Text, "text/plain"})
	}
	return map[string]any{"resources": list}, nil
}

func (n *notes) listTemplates(json.RawMessage) (any, error) {
	return map[string]any{"resourceTemplates": []template{
		{noteScheme + "{id}", "any note", "Every note by its number, done ones included", "text/plain"},
	}}, nil
}

func (n *notes) readResource(params json.RawMessage) (any, error) {
	x, err := n.byURI(params)
	if err != nil {
		return nil, err
	}
	return map[string]any{"contents": []contents{{x.uri(), x.String()}}}, nil
}

func (n *notes) subscribe(params json.RawMessage) (any, error) {
	x, err := n.byURI(params)
	if err != nil {
		return nil, err
	}
	n.subs[x.uri()] = true
	return struct{}{}, nil
}

func (n *notes) unsubscribe(params json.RawMessage) (any, error) {
	uri, err := uriOf(params)
	delete(n.subs, uri)
	return struct{}{}, err
}

// byURI is the note that params.uri names.
func (n *notes) byURI(params json.RawMessage) (*note, error) {
	uri, err := uriOf(params)
	if err != nil {
		return nil, err
	}
	id, ours := strings.CutPrefix(uri, noteScheme)
	if x := n.find(id); ours && x != nil {
		return x, nil
	}
	return nil, &rpcError{codeNotFound, fmt.Sprintf("there is no resource %q: resources/list shows the open notes", uri)}
}

func uriOf(params json.RawMessage) (string, error) {
	var p struct{ URI string }
	if json.Unmarshal(params, &p) != nil || p.URI == "" {
		return "", errors.New("uri is missing")
	}
	return p.URI, nil
}
