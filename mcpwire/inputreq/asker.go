package inputreq

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// NameAsker appends edits that put the name of the server before each message of the server to the
// user: "Server NAME asks: ". Otherwise a server could ask in the name of another server or of
// toolman. Clients have to make it "clear which server is requesting information" (2025-11-25,
// Elicitation, User Interaction Model), but the client of a gateway sees only one server.
//
// The messages are those of a request elicitation/create, of the elicitations in a result of type
// input_required, and of those in an error with CodeURLElicitation. NameAsker fails if a message is
// missing or ambiguous. Such a frame must not reach a client.
func NameAsker(edits []jsonrpc.Edit, m *jsonrpc.Message, server string) ([]jsonrpc.Edit, error) {
	a := asker{m, edits, server}
	var err error
	switch {
	case m.Kind == jsonrpc.Request:
		if mcpwire.Method(m.Text(m.Method)) == mcpwire.Elicit {
			err = a.name(m.Params)
		}
	case m.Err.Present():
		err = a.nameURLs()
	default:
		err = a.nameInputs()
	}
	return a.edits, err
}

// An asker collects the edits of NameAsker.
type asker struct {
	m      *jsonrpc.Message
	edits  []jsonrpc.Edit
	server string
}

// name puts the server's name before the message of an elicitation.
func (a *asker) name(elicitation jsonrpc.Span) error {
	at, err := a.m.Get(elicitation, "message")
	if err != nil {
		return err
	}
	if !a.m.IsString(at) {
		return errors.New("an elicitation has no message")
	}
	words := jsonrpc.AppendEscaped(nil, "Server "+a.server+" asks: ")
	a.edits = append(a.edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Lo + 1, Hi: at.Lo + 1}, New: words})
	return nil
}

// nameURLs names the server in an error.
func (a *asker) nameURLs() error {
	if _, code, err := mcpwire.ErrorCode(a.m); err != nil || code != mcpwire.CodeURLElicitation {
		return err
	}
	list, err := elicitations(a.m)
	if err != nil {
		return err
	}
	for at := range jsonrpc.Elements(a.m.Frame, list) {
		if err := a.name(at); err != nil {
			return err
		}
	}
	return nil
}

var inputKeys = [...]string{"resultType", "inputRequests"}

// nameInputs names the server in a result.
func (a *asker) nameInputs() error {
	var found [len(inputKeys)]jsonrpc.Member
	if err := a.m.Find(a.m.Result, inputKeys[:], found[:]); err != nil || !found[0].Present() {
		return err
	}
	r := mcpwire.Result{Type: found[0]}
	if r.ResultType(a.m) != mcpwire.ResultInputRequired {
		return nil
	}
	for one := range a.m.Walk(found[1].Value) {
		var request [len(inputRequestKeys)]jsonrpc.Member
		if err := a.m.Find(one.Value, inputRequestKeys[:], request[:]); err != nil {
			return err
		}
		if mcpwire.Method(a.m.Text(request[0].Value)) == mcpwire.Elicit {
			if err := a.name(request[1].Value); err != nil {
				return err
			}
		}
	}
	return nil
}
