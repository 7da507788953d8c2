// Package logincmd is toolman login and toolman logout: logins of the user to remote servers that
// want one by OAuth. The work is done by package signin.
package logincmd
