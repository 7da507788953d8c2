package bodies

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestABodyIsReadWholeWhateverItAnnounces(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, firstRead - 1, firstRead, firstRead + 1, 3<<20 + 7} {
		want := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		for _, announced := range []int64{-1, 0, int64(size), int64(size) / 2, int64(size) * 2, 1 << 62} {
			got, err := new(Pool).Read(iotest.HalfReader(bytes.NewReader(want)), announced)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, of which %d are announced: got %d, %v", size, announced, len(got), err)
			}
			if announced == int64(size) && cap(got) > size+512+spare {
				t.Errorf("%d bytes, as announced, take %d", size, cap(got))
			}
		}
	}
	broken := errors.New("broken")
	if got, err := new(Pool).Read(io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(broken)), 5); !errors.Is(err, broken) || string(got) != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestABodyThatIsOnlyAnnouncedTakesLittleRoom(t *testing.T) {
	got, _ := new(Pool).Read(bytes.NewReader([]byte("{")), 1<<30)
	if cap(got) > firstRead {
		t.Errorf("one byte takes %d", cap(got))
	}
}
