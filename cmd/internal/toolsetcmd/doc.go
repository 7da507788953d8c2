// Package toolsetcmd is toolman toolset: commands that build, list, show, equip, delete, export
// and import toolsets.
package toolsetcmd
