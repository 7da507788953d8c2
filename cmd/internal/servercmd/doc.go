// Package servercmd is toolman add and toolman remove: they edit the servers of tools.toml.
package servercmd
