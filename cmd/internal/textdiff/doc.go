// Package textdiff shows how two versions of a file differ, as a unified diff.
package textdiff
