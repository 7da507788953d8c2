package metatool

import "toolman/jsonrpc"

// LoginTool is the name of the tool with which the user logs in to a server.
const LoginTool = "toolman_login"

// loginTool returns the definition of toolman_login. Package builtin serves its calls.
func loginTool() *Tool {
	return &Tool{Name: LoginTool, InStaticMode: true,
		Definition: `,"title":"Log in to a server","description":"Has the user log in to a server that needs a login, in the browser. ` +
			`Call it for a server of which the catalog or an error says that it needs a login. If the answer says that the user has not finished yet, call it again.",` +
			`"inputSchema":{"type":"object","properties":{"server":{"type":"string","description":"Name of the server"}},"required":["server"],"additionalProperties":false}` +
			`,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true}}`}
}

// LoginServer returns the server that a call of toolman_login names.
func LoginServer(m *jsonrpc.Message) (string, error) {
	a, err := argumentsOf(m, "server")
	if err != nil {
		return "", err
	}
	return a.text("server")
}
