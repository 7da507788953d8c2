// Package translate turns a server of a client's configuration into one of tools.toml.
//
// # Variables
//
// Each client has a syntax of its own for variables, or none: see [Syntax]. [Text] translates a
// text so that toolman passes on what the client would have passed on. What stands for itself in
// the client, such as a ${ in one that replaces nothing, is escaped. A variable that is not set is
// an error in toolman, unless the client takes it for empty and its name is not that of a secret.
//
// # Secrets
//
// A secret that is written out in the client's file does not get into tools.toml. There a reference
// to a variable stands for it. [Server] returns the value, so that the caller can see to it that
// toolman gets the variable.
package translate
