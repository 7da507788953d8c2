package page

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// browse opens an address in the user's browser. The address has the token, and every user of the
// machine can see the arguments of a program. So the browser is told of a private file in dir,
// which leads to the address. closed removes the file.
func browse(url, dir string) (closed func(), err error) {
	closed = func() {}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return closed, err
	}
	f, err := os.CreateTemp(dir, "open-*.html") // mode 0600
	if err != nil {
		return closed, err
	}
	closed = func() { os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>toolman</title><a href=\"%[1]s\">toolman</a>\n", url)
	if failed := f.Close(); err == nil {
		err = failed
	}
	if err != nil {
		return closed, err
	}
	cmd := exec.Command("xdg-open", f.Name())
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", f.Name())
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", f.Name())
	}
	if err := cmd.Start(); err != nil {
		return closed, err
	}
	go cmd.Wait()
	return closed, nil
}
