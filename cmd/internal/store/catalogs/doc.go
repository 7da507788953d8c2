// Package catalogs is the catalog cache: files with what servers offered when they last ran.
//
// The folder has one file for each server, kind of client and working directory. The name of a file is made from
// how the server is started, so that another command has another file. Files are replaced whole, and
// several toolmans may use the folder at once. A file that is damaged, too old, or that another user
// could have written counts as none.
package catalogs
