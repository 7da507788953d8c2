// Package release describes a release: its version in the forms that the package formats have for
// it, its platforms under the names that others have for them, and where its files are.
package release
