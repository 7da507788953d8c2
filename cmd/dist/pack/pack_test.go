package pack

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"toolman/cmd/dist/release"
)

// program is the smallest thing that passes for a program of macOS.
func program(cpu uint32, size int) []byte {
	le := binary.LittleEndian
	var out []byte
	for _, n := range []uint32{macho.Magic64, cpu, 3, uint32(macho.TypeExec), 0, 0, 0, 0} {
		out = le.AppendUint32(out, n)
	}
	return append(out, bytes.Repeat([]byte{byte(cpu)}, size)...)
}

// TestFat has the standard library read a program for two processors.
func TestFat(t *testing.T) {
	amd64, arm64 := program(machoCPU["amd64"][0], 20000), program(machoCPU["arm64"][0], 7)
	joined := fat([]slice{{machoCPU["amd64"], amd64}, {machoCPU["arm64"], arm64}})
	f, err := macho.NewFatFile(bytes.NewReader(joined))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Arches) != 2 || f.Arches[0].Cpu != macho.CpuAmd64 || f.Arches[1].Cpu != macho.CpuArm64 {
		t.Fatalf("%+v", f.Arches)
	}
	for i, want := range [][]byte{amd64, arm64} {
		a := f.Arches[i]
		got, err := io.ReadAll(io.NewSectionReader(bytes.NewReader(joined), int64(a.Offset), int64(a.Size)))
		if err != nil || !bytes.Equal(got, want) || a.Offset%(1<<a.Align) != 0 {
			t.Errorf("program %d at %d: %d bytes, %v", i, a.Offset, len(got), err)
		}
	}
}

func TestWrapped(t *testing.T) {
	long := strings.Repeat("word ", 40)
	text := wrapped(long)
	for line := range strings.Lines(text) {
		if len(strings.TrimSuffix(line, "\n")) > 75 {
			t.Errorf("too long: %q", line)
		}
	}
	if strings.Join(strings.Fields(text), " ") != strings.TrimSpace(long) {
		t.Errorf("%q", text)
	}
}

func TestCopyright(t *testing.T) {
	s := systemFiles{r: testRelease()}
	got := string(s.copyright("MIT License\n\nCopyright (c) 2026 X\n\nfirst\n\nsecond\n"))
	if !strings.HasSuffix(got, "Files: *\nCopyright: 2026 X\nLicense: Expat\n first\n .\n second\n") {
		t.Errorf("%s", got)
	}
}

func testRelease() *release.Release {
	return &release.Release{Version: release.Version{Core: "1.2.3"}, Repository: "https://github.com/example/toolman"}
}
