package bridge

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge/provider"
)

// A model is not offered tools that only pages may call; programs are.
func TestModelsAreNotOfferedToolsForPages(t *testing.T) {
	page, err := mcpwire.ParsePage(mcpwire.Tool, []byte(`{"tools":[{"name":"show"},{"name":"poll","_meta":{"ui":{"visibility":["app"]}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var tools []router.Tool
	for _, item := range page.Items {
		tools = append(tools, router.Tool{Entry: catalog.NewEntry(&catalog.Source{Name: "s"}, item, &catalog.Rules{})})
	}
	for format, want := range map[provider.Format]bool{"": true, provider.MCP: true, provider.OpenAI: false, provider.Anthropic: false, provider.Gemini: false} {
		text, _, err := List(tools, Shape{Format: format})
		if err != nil || !strings.Contains(string(text), "show") || strings.Contains(string(text), "poll") != want {
			t.Errorf("format %q: %v, %s", format, err, text)
		}
	}
}
