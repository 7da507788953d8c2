package pages

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// smaps makes the lines of a mapping, as the kernel writes them.
func smaps(at, mode, file string, anonymous, swap int) string {
	return fmt.Sprintf(`%s %s 00000000 fe:00 10027074                           %s
Size:               6072 kB
Rss:                4924 kB
Private_Clean:      4924 kB
Anonymous:      %8d kB
Swap:           %8d kB
THPeligible:           0
VmFlags: rd ex mr mw me
`, at, mode, file, anonymous, swap)
}

func TestOnlyWhatIsAsInTheFileIsReleased(t *testing.T) {
	const program = "/opt/tool man/toolman"
	for _, tt := range []struct {
		name, smaps string
		want        []mapping
	}{
		{"code and tables", smaps("00400000-009ef000", "r-xp", program, 0, 0) + smaps("009ef000-00ffd000", "r--p", program, 0, 0),
			[]mapping{{0x400000, 0x9ef000}, {0x9ef000, 0xffd000}}},
		{"high addresses", smaps("7f0000400000-7f00009ef000", "r-xp", program, 0, 0), []mapping{{0x7f0000400000, 0x7f00009ef000}}},
		{"variables", smaps("00400000-009ef000", "rw-p", program, 0, 0), nil},
		{"shared with others", smaps("00400000-009ef000", "r--s", program, 0, 0), nil},
		{"written, and read-only since", smaps("00400000-009ef000", "r--p", program, 4, 0), nil},
		{"written, and swapped out", smaps("00400000-009ef000", "r--p", program, 0, 4), nil},
		{"another file", smaps("00400000-009ef000", "r-xp", "/lib/libc.so.6", 0, 0), nil},
		{"a file whose name ends alike", smaps("00400000-009ef000", "r-xp", "/x"+program, 0, 0), nil},
		{"no file", smaps("00400000-009ef000", "r--p", "", 0, 0), nil},
		{"after one to be left alone", smaps("00400000-009ef000", "r--p", program, 4, 0) + smaps("009ef000-00ffd000", "r--p", program, 0, 0),
			[]mapping{{0x9ef000, 0xffd000}}},
		{"addresses that are none", smaps("00400000", "r-xp", program, 0, 0) + smaps("x-y", "r-xp", program, 0, 0), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := unwritten([]byte(tt.smaps), program); !slices.Equal(got, tt.want) {
				t.Errorf("got %x, want %x", got, tt.want)
			}
		})
	}
}

func TestTheKernelWritesWhatIsRead(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if len(unwritten(text, program)) == 0 {
		t.Errorf("nothing of %s in\n%s", program, text)
	}
}

func TestWhatIsReleasedIsGivenBackAndComesBack(t *testing.T) {
	before := resident(t)
	Release()
	if after := resident(t); after >= before {
		t.Errorf("%d KB of files in memory before, %d after", before, after)
	}
}

// resident is how much of files is in memory, in KB.
func resident(t *testing.T) (kb int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
