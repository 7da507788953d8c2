// Package render writes ordered trees of values as JSON, TOML and YAML, as people write these by
// hand.
package render
