// Package pack makes the packages of a release, each as its package manager wants it: npm, Python
// wheels, deb, rpm and apk, an MCPB bundle, the entry of the MCP registry, and a Homebrew formula.
//
// # npm
//
// The package toolman has a launcher of a few lines, and one optional dependency for each platform,
// of which npm installs the one whose os and cpu fit. So no script runs at installation, and
// nothing is downloaded but from the registry.
//
// # deb, rpm, apk
//
// nfpm writes them, as a program of a pinned version: as a library it would bring some sixty modules
// into go.mod, which toolman does not need. Newer versions than 2.45 import modules that the public
// proxy does not serve.
package pack
