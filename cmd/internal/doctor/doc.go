// Package doctor is toolman doctor: it starts the servers of tools.toml, looks at the MCP clients of
// this machine, and says for each problem what corrects it.
//
// What is wrong with a server says package diagnosis, and where a client has its files says package
// clients. Here is the rest: whether toolman is registered in a client so that it works, and what is
// known of the client's installed version. Of programs, it runs the servers of tools.toml, and
// clients and toolmans that the user's own files name with an argument that prints their version.
package doctor
