// Package toolsets stores toolsets in files: toolsets.json has the saved ones, equipped.json the
// name of the one that is equipped at the next start. Both are in the folder .toolman beside
// tools.toml.
//
// toolsets.json is an object of toolsets by their names:
//
//	{
//	  "dev-essentials": {
//	    "name": "dev-essentials",
//	    "description": "Essential tools for web development",
//	    "version": "1.0.0",
//	    "createdAt": "2024-01-15T10:30:00Z",
//	    "tools": [
//	      {"namespacedName": "git_status", "refId": "sha256:…"}
//	    ]
//	  }
//	}
//
// name and tools are required, and a reference needs one of its two members. A toolset that a
// client of toolman serve has saved has that client as its owner. Its key starts with the owner, so
// that each owner can use any name:
//
//	"tokens::reviewer/dev-essentials": {
//	  "name": "dev-essentials",
//	  "owner": "tokens::reviewer",
//	  …
//
// A toolset without an owner is the operator's. Anything else (another member, a member twice, a
// value of another kind) is an error with its line, and a file with an error is never overwritten.
package toolsets
