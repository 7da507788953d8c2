package system

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"toolman/fixtures/process"
)

func TestNobodyListens(t *testing.T) {
	if _, err := net.Dial("tcp", "127.0.0.1:"+process.FreePort(t)); !Refused(err) || Unreachable(err) || Reset(err) {
		t.Errorf("got %v", err)
	}
	if Refused(nil) || Refused(io.EOF) {
		t.Error("other errors pass for it")
	}
}

func TestTheReaderIsGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	if _, err := w.WriteString("x"); !Closed(err) || !Reset(err) || Refused(err) {
		t.Errorf("got %v", err)
	}
}

func TestQuiet(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, act := range map[string]func(*net.TCPConn){
		"data": func(c *net.TCPConn) { c.Write([]byte("x")) },
		"end":  func(c *net.TCPConn) { c.CloseWrite() },
		"loss": func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			near, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			conn := near.(*net.TCPConn)
			for range 2 { // the first look reads nothing away
				if !Quiet(conn) {
					t.Fatal("not quiet at first")
				}
			}
			act(far.(*net.TCPConn))
			for end := time.Now().Add(time.Minute); Quiet(conn); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("quiet still")
				}
			}
			conn.Close()
			if Quiet(conn) {
				t.Error("quiet after its end")
			}
		})
	}
}

// A program that reads a file does not keep it from being replaced, if it closes the file soon.
func TestRenameOverAFileThatIsRead(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	for _, path := range []string{from, to} {
		if err := os.WriteFile(path, []byte(filepath.Base(path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reading, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); runtime.GOOS == "windows" && !is(err, inUse) {
		t.Errorf("while it is read: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { reading.Close() })
	if err := Rename(from, to); runtime.GOOS == "windows" && err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(to); string(text) != "from" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := Rename(from, to); !os.IsNotExist(err) {
		t.Errorf("without a file: %v", err)
	}
}
