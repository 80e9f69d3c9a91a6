package cassette

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// startDir is where the process started: go test starts a package's tests in the package's folder, and a test may go
// elsewhere later.
var startDir, startDirErr = os.Getwd()

// store is where one cassette is kept. All reads and writes go through an os.Root, so that no symlink leads out of the
// folder that the cassette belongs to.
type store struct {
	base string // folder, in the system's spelling
	name string // below base, slash-separated
	path string // for messages: base and name
}

// newStore returns the store of a cassette called name, below dir when it is given, else below CASSETTE_DIR, else below
// testdata/cassettes of the package under test.
func newStore(dir, name string, env func(string) string) (store, error) {
	base := dir
	if base == "" {
		if base = env("CASSETTE_DIR"); base == "" {
			return storeAt(".", "testdata/cassettes/"+name)
		}
		name = path.Join(packagePath(), name)
	}
	return storeAt(base, name)
}

func storeAt(base, name string) (store, error) {
	shown := filepath.Join(base, filepath.FromSlash(name))
	if !filepath.IsAbs(base) {
		if startDirErr != nil {
			return store{}, startDirErr
		}
		base = filepath.Join(startDir, base)
	}
	return store{base: base, name: name, path: shown}, nil
}

// key identifies the file among the sessions of this process.
func (s store) key() string { return filepath.Join(s.base, filepath.FromSlash(s.name)) }

// read returns the file's bytes; an error for which errors.Is(err, fs.ErrNotExist) holds when there is none.
func (s store) read() ([]byte, error) {
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(filepath.FromSlash(s.name))
}

// exists reports whether anything stands at the cassette's place.
func (s store) exists() (bool, error) {
	root, err := os.OpenRoot(s.base)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	_, err = root.Lstat(filepath.FromSlash(s.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// write puts data at name, a sibling of the cassette or the cassette itself, whole or not at all: whoever reads it, or
// finds it after a crash, sees the old file or the new one.
func (s store) write(name string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cassette %s cannot be written: %w; check the folder's permissions and the space on its disk", filepath.Join(filepath.Dir(s.path), path.Base(name)), err)
		}
	}()
	if err := os.MkdirAll(s.base, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return err
	}
	defer root.Close()
	file := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if name == s.name {
		if file, err = follow(root, file); err != nil {
			return err
		}
	}
	dir := filepath.Dir(file)
	temp := filepath.Join(dir, tempPrefix+strings.ToLower(rand.Text())+tempSuffix)
	if err := writeSynced(root, temp, data); err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(temp)))
	}
	if err := root.Rename(temp, file); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	sweep(root, dir, file)
	return syncDir(root, dir)
}

// Temporary files have names that no cassette has.
const tempPrefix, tempSuffix = ".mixtape-", ".tmp"

// maxLinks bounds a chain of symlinks; systems follow fewer.
const maxLinks = 255

// follow returns the name of the file that is read where file is: a rename would put its file in place of a symlink.
func follow(root *os.Root, file string) (string, error) {
	want, err := root.Stat(file)
	if err != nil {
		return file, ignoreMissing(err)
	}
	at := file
	for range maxLinks {
		target, err := root.Readlink(at)
		if err != nil {
			break // it is no symlink
		}
		at = filepath.Join(filepath.Dir(at), target)
	}
	// Join does not know of folders that are symlinks themselves.
	if got, err := root.Lstat(at); err != nil || !os.SameFile(got, want) {
		return "", fmt.Errorf("the symlinks at %s cannot be followed to where the file is", file)
	}
	return at, nil
}

// sweep removes the temporary files that processes which were killed left in dir, an hour or more before file was
// written. By then nobody writes them any more. Those that stay do no harm.
func sweep(root *os.Root, dir, file string) {
	written, err := root.Stat(file) // the clock of the file system, which need not be this machine's
	if err != nil {
		return
	}
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), tempPrefix) || !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && written.ModTime().Sub(info.ModTime()) >= time.Hour {
			root.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename last. Systems that cannot sync a folder say so; their renames last without it.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return errors.Join(err, d.Close())
	}
	return d.Close()
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// siblings returns the names of the other cassettes in the same folder, without those that stand beside one.
func (s store) siblings() []string {
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return nil
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), path.Dir(s.name))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		stem, ext := cutExt(e.Name())
		kind := path.Ext(stem)
		if e.Type().IsRegular() && (ext == ".json" || ext == ".jsonl") && kind != ".failed" && kind != ".conflict" && e.Name() != path.Base(s.name) {
			names = append(names, e.Name())
		}
	}
	return names
}

// save puts data at the cassette's place, where loaded (nil: nothing) stood when the session began. When something else
// stands there now, or nothing can be put there, the recording goes beside it and the error says so.
func (s store) save(data []byte, beside blobs, loaded []byte) error {
	now, err := s.read()
	if err := ignoreMissing(err); err != nil {
		return s.saveAside(data, beside, readError(s.path, err))
	}
	if !bytes.Equal(now, loaded) || (now == nil) != (loaded == nil) {
		conflict := conflictName(s.name)
		if err := s.writeApart(conflict, data, beside); err != nil {
			return err
		}
		return fmt.Errorf("cassette %s was changed by somebody else while this run recorded; what this run recorded is in %s: keep one of the two", s.path, path.Base(conflict))
	}
	if err := s.writeApart(s.name, data, beside); err != nil {
		return s.saveAside(data, beside, err)
	}
	return s.removeBlobs(beside)
}

// saveAside keeps, beside the cassette, what could not be put in its place because of err.
func (s store) saveAside(data []byte, beside blobs, err error) error {
	name, failed := s.saveFailed(data, beside)
	if failed != nil {
		return err // beside it nothing can be written either, most likely for the same reason
	}
	return fmt.Errorf("%w; what was recorded is in %s", err, name)
}

// saveFailed keeps what a failed run recorded, beside the cassette, and returns the name.
func (s store) saveFailed(data []byte, beside blobs) (name string, err error) {
	name = failedName(s.name)
	return filepath.Join(filepath.Dir(s.path), path.Base(name)), s.writeApart(name, data, beside)
}
