// Package reference replaces references in the strings of a configuration, and turns a server's
// command into what to execute.
//
// # References
//
// ${VAR}, ${VAR:-default} and ${file:path} are replaced; ${env:VAR} is ${VAR}, as clients write it.
// A default stands in for a variable that is unset or empty, and may hold references itself. A path
// is relative to the configuration's folder; one line end at the end of the file is dropped. A
// literal ${ is written $${; in a command it is quoted as in any shell: '${x}' or \${x}. References
// in env see toolman's own environment, those in a command also the server's env.
//
// ${session.KEY} stands in values of env and headers for a value that a session gives, by itself
// and not within another reference. Commands cannot refer to such a variable: the client would
// write a part of what is run.
//
// # Secrets
//
// A [Resolver] records what must not be logged: the values of ${VAR} and ${file:path}, and values
// of variables with a name that says so (see [IsSecretName]), also if the value is the default of a
// reference. Variables such as HOME, and those that hold the path of a file or folder, are no
// secrets, unless their names say so.
//
// # Commands
//
// A command that consists of assignments, words, quotes, $VAR, ${VAR}, ${VAR:-default},
// ${file:path} and a leading ~ is executed without a shell. The value of a reference is never read
// as shell syntax and never split: it stays within its word. (As in a shell, an unquoted word of
// references alone whose value is empty is left out.) A variable that is not set is an error.
//
// A command with anything else (|, &&, >, ;, $(…), globs, a builtin such as exec) is passed to the
// system's shell as it is written, with the server's env in its environment. There ${VAR} has to be
// set when the file is read, $VAR is left to the shell, and ${file:path} is rejected: it belongs in
// env.
//
// If the arguments are given apart, in args, nothing is split and no shell runs: the program and
// each argument are taken as they are, with ${…} replaced. $NAME and quotes stay as they are
// written.
//
// The shell is /bin/sh -c, and cmd /c on Windows, where cmd expands %VAR%. The grammar is POSIX's
// on every system, in which a backslash escapes: write a Windows path with slashes or in single
// quotes.
package reference
