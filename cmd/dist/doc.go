// Dist makes all files of a release of toolman in one folder. It is run by `make dist`; nothing of
// it is in toolman.
//
//	toolman_V_OS_ARCH.tar.gz, .zip   the program, its manual pages, completions and licenses
//	toolman_V_OS_ARCH.cdx.json       what is in the program: an SBOM (CycloneDX)
//	toolman_V_ARCH.deb, .rpm, .apk   packages for Linux
//	toolman-V.tgz, toolman-OS-CPU-V.tgz   npm packages
//	*.whl                            Python packages
//	toolman-V.mcpb                   the bundle for applications such as Claude Desktop
//	server.json                      the entry of the MCP registry
//	toolman.rb                       the Homebrew formula
//	THIRD-PARTY-LICENSES.txt         the licenses of all that is linked
//	SHA256SUMS                       the hashes of all files above
//
// The same commit, version and Go give the same bytes on any machine: no file has a time but that
// of the commit (or SOURCE_DATE_EPOCH), the name of a folder, or an owner.
package main
