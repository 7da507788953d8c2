package page

import _ "embed"

// template is the page, with its script and style in it.
//
//go:embed web/dist/index.html
var template []byte
