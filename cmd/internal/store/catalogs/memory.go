package catalogs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolman/mcpwire/system"
	"toolman/router/recall"
)

// A Server names a server to its Memory.
type Server struct {
	Name   string        // in the configuration
	Config string        // path of the configuration
	Start  func() string // returns all that decides what the server is: how it is started
	Dir    string        // the working directory, unless Start tells
}

// Memory returns the memory of a server.
func (f *Folder) Memory(s Server) recall.Memory { return &memory{f, s} }

// A memory implements recall.Memory.
type memory struct {
	folder *Folder
	server Server
}

// fresh is the age of a file from which on its time is set again when the server still offers the
// same.
const fresh = 24 * time.Hour

// prefix begins the names of the server's files.
func (m *memory) prefix() string {
	sum := sha256.Sum256([]byte(m.server.Start()))
	return hex.EncodeToString(sum[:16]) + "."
}

// place ends the names of the server's files of this working directory.
func (m *memory) place() string {
	sum := sha256.Sum256([]byte(m.server.Dir))
	return "." + hex.EncodeToString(sum[:4]) + suffix
}

// Recall implements recall.Memory. Of other working directories it returns what the server offered
// there only if nothing is known of this one: hardly any server looks at it, and each new project
// has another.
func (m *memory) Recall(key string) *recall.Offered {
	prefix, place := m.prefix(), m.place()
	files, err := m.folder.files(prefix)
	if err != nil {
		return nil
	}
	fit := func(f *file) (n int) {
		if strings.HasSuffix(f.name, place) {
			n = 2
		}
		if strings.HasPrefix(f.name, prefix+key+".") {
			n++
		}
		return n
	}
	slices.SortStableFunc(files, func(a, b *file) int { return fit(b) - fit(a) })
	for _, file := range files {
		if o, err := m.folder.read(file.name); err == nil {
			return o
		}
	}
	return nil
}

// read reads a file.
func (f *Folder) read(name string) (*recall.Offered, error) {
	file, info, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if f.now().Sub(info.ModTime()) > maxAge {
		return nil, fmt.Errorf("%s is too old", name)
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(file, text); err != nil {
		return nil, err
	}
	return recall.Parse(text)
}

// header reads the header of a file.
func (f *Folder) header(name string) (recall.Header, error) {
	file, _, err := f.open(name)
	if err != nil {
		return recall.Header{}, err
	}
	defer file.Close()
	return recall.ReadHeader(bufio.NewReader(file))
}

// Remember implements recall.Memory.
func (m *memory) Remember(c recall.Client, o *recall.Offered) error {
	h := recall.Header{Server: m.server.Name, Config: m.server.Config, Client: c.Key, Name: c.Name}
	if err := h.Prepare(o); err != nil {
		return err
	}
	if err := os.MkdirAll(m.folder.path, 0o700); err != nil {
		return err
	}
	if err := m.folder.trusted(); err != nil {
		return err
	}
	name := m.prefix() + c.Key + m.place()
	if m.folder.keep(name, &h) {
		return nil
	}
	if err := m.folder.write(name, &h, o); err != nil {
		return err
	}
	m.folder.prune()
	return nil
}

// keep reports whether a file has all that is to be written, and notes that the server still offers
// it.
func (f *Folder) keep(name string, h *recall.Header) bool {
	file, info, err := f.open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	r := bufio.NewReader(file)
	old, err := recall.ReadHeader(r)
	if err != nil || old.Digest != h.Digest || old.Server != h.Server || old.Config != h.Config {
		return false
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil || hex.EncodeToString(hash.Sum(nil)) != h.Digest {
		return false // it is damaged
	}
	if now := f.now(); now.Sub(info.ModTime()) > fresh {
		os.Chtimes(filepath.Join(f.path, name), now, now)
	}
	return true
}

// write replaces a file. It does not wait for the disk: a file that is not whole after a crash of
// the system is recognized.
func (f *Folder) write(name string, h *recall.Header, o *recall.Offered) error {
	temp, err := os.CreateTemp(f.path, tempMark) // readable only by its owner
	if err != nil {
		return err
	}
	w := bufio.NewWriter(temp)
	err = recall.Write(w, h, o)
	err = errors.Join(err, w.Flush(), temp.Close())
	if err == nil {
		err = system.Rename(temp.Name(), filepath.Join(f.path, name))
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
