// Package toolsets keeps toolsets in files: toolsets.json has those that were saved,
// equipped.json says which one the next start begins with. Both lie in the folder
// .toolman beside tools.toml.
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
// client of toolman serve has saved has that client as its owner, and stands under both, so that
// each can use any name:
//
//	"tokens::reviewer/dev-essentials": {
//	  "name": "dev-essentials",
//	  "owner": "tokens::reviewer",
//	  …
//
// One without an owner is the operator's. Anything
// else (another member, a member twice, a value of another kind) is an error with its
// line, and a file with an error is never written over.
package toolsets
