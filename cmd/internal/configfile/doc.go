// Package configfile finds the configuration file, checks who may write it, and watches it for
// changes.
package configfile
