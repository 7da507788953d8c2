package report

import (
	"fmt"
	"io"

	"toolman/mcpwire/sanitize"
	"toolman/router"
)

// PrintExplanation writes what toolman explain says about one item.
func PrintExplanation(out io.Writer, x router.Explanation) {
	yes := map[bool]string{true: "yes", false: "no"}
	detail := func(text string) {
		if text != "" {
			fmt.Fprintf(out, "            %s\n", sanitize.Line(text))
		}
	}
	fmt.Fprintf(out, "%s %s of %s\n", x.Kind, sanitize.Line(x.Name), x.Server)
	fmt.Fprintf(out, "  visible   %s\n", yes[x.Visible])
	detail(x.Rule)
	fmt.Fprintf(out, "  active    %s\n", yes[x.Active])
	detail(x.Activity)
	fmt.Fprintf(out, "  callable  %s\n", yes[x.Callable])
	detail(x.Danger)
	if x.Error != "" {
		fmt.Fprintf(out, "  callers are told: %s\n", sanitize.Line(x.Error))
	}
}
