// Package legal says what is linked into toolman: the texts of all licenses, in one file for all
// platforms, and a bill of materials for each program, in CycloneDX's JSON.
//
// The modules are those of the packages that `go list -deps` names for a platform. They must be
// those that the program itself has a record of, or it is an error; so is a module whose license is
// missing or not one of the known ones.
package legal
