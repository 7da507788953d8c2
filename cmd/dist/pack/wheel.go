package pack

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"toolman/cmd/dist/archive"
	"toolman/cmd/dist/release"
)

// wheelMetadata is the METADATA of a wheel. The MCP registry reads mcp-name in the description.
const wheelMetadata = `Metadata-Version: 2.4
Name: %s
Version: %s
Summary: %s
Author: %s
License-Expression: %s
License-File: LICENSE
License-File: THIRD-PARTY-LICENSES.txt
Keywords: mcp,gateway,proxy
Requires-Python: >=3.8
Project-URL: Homepage, %s
Description-Content-Type: text/markdown

# toolman

%s

    uvx --from %[1]s toolman --help

mcp-name: %[8]s
`

// Wheels makes a Python wheel for each platform, whose script is the program itself.
func Wheels(r *release.Release) error {
	name := strings.ReplaceAll(r.PyPI, "-", "_")
	base := fmt.Sprintf("%s-%s", name, r.Version.Python())
	for _, b := range r.Builds {
		w := wheel{info: base + ".dist-info/"}
		if err := w.addFile(base+".data/scripts/"+b.Program(), b.Path, true); err != nil {
			return err
		}
		if err := w.addFile(w.info+"licenses/LICENSE", r.Source("LICENSE"), false); err != nil {
			return err
		}
		if err := w.addFile(w.info+"licenses/THIRD-PARTY-LICENSES.txt", r.Licenses, false); err != nil {
			return err
		}
		w.add(w.info+"METADATA", fmt.Appendf(nil, wheelMetadata, r.PyPI, r.Version.Python(), release.Summary, release.Authors,
			release.License, r.Repository, release.Description, r.MCPName()), false)
		var tags strings.Builder
		for tag := range strings.SplitSeq(b.WheelTag(), ".") {
			fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
		}
		w.add(w.info+"WHEEL", fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: toolman\nRoot-Is-Purelib: false\n%s", &tags), false)
		w.files.Add(w.info+"RECORD", []byte(w.record.String()+w.info+"RECORD,,\n"), false)
		if err := w.files.Zip(r.Path(fmt.Sprintf("%s-py3-none-%s.whl", base, b.WheelTag())), r.Time); err != nil {
			return err
		}
	}
	return nil
}

type wheel struct {
	info   string
	files  archive.Files
	record strings.Builder
}

func (w *wheel) addFile(name, path string, executable bool) error {
	data, err := os.ReadFile(path)
	if err == nil {
		w.add(name, data, executable)
	}
	return err
}

func (w *wheel) add(name string, data []byte, executable bool) {
	sum := sha256.Sum256(data)
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
	w.files.Add(name, data, executable)
}
