package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/store"
	"toolman/cmd/internal/traces/files"
)

// A Store keeps records of changes.
type Store struct{ dir string }

// Open returns the store of this user. It makes no files.
func Open() (*Store, error) {
	state, err := files.StateDir()
	if err != nil {
		return nil, cli.Failed(err, "set XDG_STATE_HOME or HOME")
	}
	return &Store{filepath.Join(state, "install")}, nil
}

const (
	version  = 1 // of a record's format
	lockFile = "lock"
)

// A Record is what a store knows of a file that it has changed.
type Record struct {
	Version  int       `json:"version"`
	Path     string    `json:"path"`   // as users name it
	Target   string    `json:"target"` // without symbolic links
	What     string    `json:"what"`
	Owners   []string  `json:"owners,omitempty"`
	Existed  bool      `json:"existed"` // whether there was a file
	Original []byte    `json:"original,omitempty"`
	ModTime  time.Time `json:"modTime"` // of the original
	Sums     []string  `json:"sums"`    // of what was written last and, if a crash kept it from that, before
	Edits    []Edit    `json:"edits,omitempty"`

	before *Record // what the record replaces
}

// newRecord returns the record for a change. A file that has been changed before keeps its original.
func (s *Store) newRecord(c Change) (*Record, error) {
	target, text, err := open(c.Path)
	if err != nil {
		return nil, err
	}
	old, err := s.record(target)
	if err != nil {
		return nil, err
	}
	r := &Record{Version: version, Path: c.Path, Target: target, What: c.What, Owners: c.Owners, Existed: text != nil,
		Original: text, Sums: []string{sum(c.After)}, Edits: c.Edits, before: old}
	if info, err := os.Stat(target); err == nil {
		r.ModTime = info.ModTime()
	}
	if old == nil || text == nil {
		return r, nil
	}
	r.Edits = slices.Clone(old.Edits)
	for _, e := range c.Edits {
		i := slices.IndexFunc(r.Edits, func(o Edit) bool {
			return o.Name == e.Name && slices.Equal(o.Spot.Path, e.Spot.Path)
		})
		if i < 0 {
			r.Edits = append(r.Edits, e)
			continue
		}
		if e.Mark.Added || !e.Set {
			r.Edits[i].Mark = e.Mark
		}
		r.Edits[i].Set = e.Set
	}
	for _, owner := range old.Owners {
		if !slices.Contains(r.Owners, owner) {
			r.Owners = append(r.Owners, owner)
		}
	}
	// What others have changed since belongs to the original.
	if old.wrote(text) {
		r.Sums = append(r.Sums, sum(text))
		r.Original, r.Existed, r.ModTime = old.Original, old.Existed, old.ModTime
	} else if original, exists, err := old.undone(text); err == nil {
		r.Original, r.Existed = original, exists
	}
	return r, nil
}

// wrote reports whether a text is what was written.
func (r *Record) wrote(text []byte) bool { return slices.Contains(r.Sums, sum(text)) }

// name returns the file of a record.
func (s *Store) name(target string) string {
	return filepath.Join(s.dir, sum([]byte(target))[:32]+".json")
}

// make makes the directory, and returns which directories were made for it.
func (s *Store) make() (made []string, err error) {
	made = filechange.MissingFolders(s.dir)
	err = os.MkdirAll(s.dir, 0o700)
	if err == nil {
		err = os.Chmod(s.dir, 0o700)
	}
	return made, err
}

// lock makes the directory and locks it. unlock removes all of it if there are no records.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	made, err := s.make()
	if err != nil {
		return nil, cli.Failed(err, "nothing was changed")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	release, err := store.Lock(ctx, filepath.Join(s.dir, lockFile), 0o644)
	if err != nil {
		cancel()
		if ctx.Err() != nil {
			err = errors.New("another toolman changes configurations at the moment")
		}
		return nil, cli.Failed(err, "run the command again")
	}
	if err := s.noteDirs(made); err != nil {
		release()
		cancel()
		return nil, cli.Failed(err, "nothing was changed")
	}
	return func() {
		var made []string
		if all, err := s.paths(); err == nil && len(all) == 0 {
			made = s.made()
			s.empty()
		}
		release()
		cancel()
		removeDirs(made)
	}, nil
}

// empty removes all but the lock: the list of directories, and records that were not written to the
// end.
func (s *Store) empty() {
	all, _ := os.ReadDir(s.dir)
	for _, f := range all {
		if f.Name() != lockFile {
			os.Remove(filepath.Join(s.dir, f.Name()))
		}
	}
}

// Clean removes what a process that was killed has left in the store, if there are no records.
func (s *Store) Clean(ctx context.Context) error {
	if _, err := os.Stat(s.dir); err != nil {
		return nil // there is no store
	}
	unlock, err := s.lock(ctx)
	if err == nil {
		unlock()
	}
	return err
}

// madeFile lists the directories that were made for files and for the store, those above others
// first. They are removed when they are empty and nothing needs them any more.
func (s *Store) madeFile() string { return filepath.Join(s.dir, "directories") }

func (s *Store) made() []string {
	text, err := source.Read(s.madeFile(), 1<<20)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// noteDirs adds directories to the list. The store must be locked.
func (s *Store) noteDirs(dirs []string) error {
	made := s.made()
	dirs = slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return slices.Contains(made, dir) })
	if len(dirs) == 0 {
		return nil
	}
	made = append(made, dirs...)
	slices.Sort(made) // others may have made those above
	return os.WriteFile(s.madeFile(), []byte(strings.Join(made, "\n")), 0o600)
}

// leave removes the directories above a file that were made and are empty now.
func (s *Store) leave(target string) {
	made := s.made()
	var above []string
	for _, dir := range made {
		if strings.HasPrefix(target, dir+string(filepath.Separator)) {
			above = append(above, dir)
		}
	}
	removeDirs(above)
	left := slices.DeleteFunc(made, func(dir string) bool {
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	_ = os.WriteFile(s.madeFile(), []byte(strings.Join(left, "\n")), 0o600) // what stays in it too long does no harm
}

// record returns the record of a file, or nil.
func (s *Store) record(target string) (*Record, error) {
	r, err := s.load(s.name(target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

func (s *Store) load(path string) (*Record, error) {
	text, err := source.Read(path, 4*MaxBytes)
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil || r.Version != version || r.Target == "" {
		return nil, cli.Failed(fmt.Errorf("%s: this is no record of this version of toolman", path), "remove it: what it says cannot be undone then")
	}
	return &r, nil
}

// save writes a record.
func (s *Store) save(r *Record) error {
	text, err := json.Marshal(r)
	if err == nil {
		c := filechange.Change{Path: s.name(r.Target), After: text}
		if c.Before, err = filechange.Read(c.Path, 4*MaxBytes); err == nil {
			err = filechange.Apply(c)
		}
	}
	if err != nil {
		return cli.Failed(fmt.Errorf("keeping the original of %s: %w", r.Path, err), "nothing was changed")
	}
	return nil
}

// drop removes a record.
func (s *Store) drop(r *Record) error {
	if err := os.Remove(s.name(r.Target)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// paths returns the files of all records.
func (s *Store) paths() (paths []string, err error) {
	all, err := os.ReadDir(s.dir)
	for _, f := range all {
		if filepath.Ext(f.Name()) == ".json" {
			paths = append(paths, filepath.Join(s.dir, f.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return paths, err
}

// Records returns all records, in the order of their paths.
func (s *Store) Records() ([]*Record, error) {
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, path := range paths {
		r, err := s.load(path)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}
