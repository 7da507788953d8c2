// Package archive writes archives that are the same whenever and by whomever they are made: files
// are in the order of their names, belong to root and have the time of the release.
package archive
