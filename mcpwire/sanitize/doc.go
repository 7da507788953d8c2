// Package sanitize makes text from clients, servers and configuration files safe to show in a
// terminal, a log, an error or a list that a model reads.
//
// Such text can hide something: control characters and escape sequences that a terminal obeys, line
// breaks that forge a second line, characters that change the direction of writing or have no
// width, and many combining marks that cover the lines around them. All functions treat the same
// characters as hidden. They differ in what they do with them:
//
//	Line, Cut, Short, Name, Summary   remove them; for messages and logs
//	Quoted, Visible                   write them as escapes; for what a person compares or approves
//	JSON, Escape                      write them as escapes that the format of the text has
//
// The package has no dependencies, so that every layer can import it.
package sanitize
