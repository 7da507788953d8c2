package toolset

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// FirstVersion is the version of a set that is built without one.
const FirstVersion = "1.0.0"

var versionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
})

// NextVersion returns the version of a set that replaces one of this version: the next patch
// version of Semantic Versioning. Any other text is returned as it is, and "" is the version before
// the first.
func NextVersion(version string) string {
	parts := versionForm().FindStringSubmatch(version)
	if parts == nil {
		if version == "" {
			return FirstVersion
		}
		return version
	}
	patch, err := strconv.ParseUint(parts[3], 10, 63)
	switch {
	case err != nil:
		return version
	case parts[4] == "":
		patch++ // otherwise it is a version before that patch
	}
	return fmt.Sprintf("%s.%s.%d", parts[1], parts[2], patch)
}
