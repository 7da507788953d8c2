package spawn

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func hasSeparator(name string) bool { return strings.ContainsAny(name, `\/:`) }

// candidates adds the extensions that Windows would try.
func candidates(path string, env []string) []string {
	exts := getenv(env, "PATHEXT")
	if exts == "" {
		exts = ".com;.exe;.bat;.cmd"
	}
	var list []string
	if filepath.Ext(path) != "" {
		list = append(list, path)
	}
	for _, ext := range filepath.SplitList(exts) {
		list = append(list, path+ext)
	}
	return list
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory; write the program to run: %w", path, fs.ErrPermission)
	}
	return nil
}
