package demoserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// styles are what the prompt's argument may be.
var styles = [...]string{"brief", "bullets", "rhyme"}

type prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Arguments   []argument `json:"arguments"`
}

type argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

type promptMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

func (n *notes) listPrompts(json.RawMessage) (any, error) {
	return map[string]any{"prompts": []prompt{{
		"summarize", "Summarize my notes", "Ask the model for a summary of the open notes",
		[]argument{{"style", strings.Join(styles[:], ", "), true}},
	}}}, nil
}

func (n *notes) getPrompt(params json.RawMessage) (any, error) {
	var p struct {
		Name      string
		Arguments map[string]string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errors.New("prompts/get needs a name, and strings as arguments")
	}
	style := p.Arguments["style"]
	switch {
	case p.Name != "summarize":
		return nil, fmt.Errorf("unknown prompt %q", p.Name)
	case !slices.Contains(styles[:], style):
		return nil, fmt.Errorf("style has to be one of %s", strings.Join(styles[:], ", "))
	}
	ask := fmt.Sprintf("Summarize my notes (style: %s):\n%s", style, listing(n.open()).text)
	return map[string]any{"messages": []promptMessage{{"user", content{"text", ask}}}}, nil
}

// complete offers styles for the prompt and numbers of notes for the template.
func (n *notes) complete(params json.RawMessage) (any, error) {
	var p struct {
		Ref      struct{ Type, Name, URI string }
		Argument struct{ Name, Value string }
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errors.New("completion/complete needs a ref and an argument")
	}
	var all []string
	switch {
	case p.Ref.Type == "ref/prompt" && p.Ref.Name == "summarize" && p.Argument.Name == "style":
		all = styles[:]
	case p.Ref.Type == "ref/resource" && p.Ref.URI == noteScheme+"{id}" && p.Argument.Name == "id":
		for _, x := range n.all {
			all = append(all, strconv.Itoa(x.ID))
		}
	default:
		return nil, fmt.Errorf("nothing to complete: there are the prompt summarize (style) and the template %s{id} (id)", noteScheme)
	}
	return completion(all, p.Argument.Value), nil
}

// completion is those values that begin so.
func completion(all []string, begun string) any {
	const most = 100 // "Maximum 100 items per response" (completion)
	values := []string{}
	for _, v := range all {
		if strings.HasPrefix(v, begun) {
			values = append(values, v)
		}
	}
	shown := values[:min(len(values), most)]
	return map[string]any{"completion": map[string]any{"values": shown, "total": len(values), "hasMore": len(values) > most}}
}
