package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// blobsExt ends the name of the folder that holds a cassette's blobs: x/triage.json has x/triage.blobs, and so have
// x/triage.failed.json and x/triage.conflict.json, one of which may take its place.
const blobsExt = ".blobs"

func blobFolder(name string) string {
	dir, base := path.Split(name)
	stem, ext := cutExt(base)
	for _, kind := range []string{".failed", ".conflict"} {
		stem = strings.TrimSuffix(stem, kind)
	}
	return dir + blobsName(stem+ext)
}

// blob returns the bytes of a blob of the cassette.
func (s store) blob(name string) ([]byte, error) {
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file := filepath.Join(filepath.FromSlash(blobFolder(s.name)), name)
	info, err := root.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > maxExpanded:
		return nil, fmt.Errorf("it has %d bytes; the most is %d", info.Size(), int64(maxExpanded))
	}
	return root.ReadFile(file)
}

// writeApart is write for a file with bytes that stand beside it. These come first: a file never names what is not there.
func (s store) writeApart(name string, data []byte, beside blobs) error {
	for _, blob := range slices.Sorted(maps.Keys(beside)) {
		if there, err := s.blob(blob); err == nil && bytes.Equal(there, beside[blob]) {
			continue
		}
		if err := s.write(path.Join(blobFolder(name), blob), beside[blob]); err != nil {
			return err
		}
	}
	return s.write(name, data)
}

// removeBlobs removes what the cassette no longer names, unless another file stands beside it that may.
func (s store) removeBlobs(named blobs) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cassette %s was saved, but what it no longer names in %s cannot be removed: %w", s.path, path.Base(blobFolder(s.name)), err)
		}
	}()
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return err
	}
	defer root.Close()
	stem, _ := cutExt(s.name)
	for _, other := range []string{failedName(s.name), conflictName(s.name), stem + ".json", stem + ".jsonl"} {
		if other == s.name {
			continue
		}
		if _, err := root.Lstat(filepath.FromSlash(other)); err == nil {
			return nil
		}
	}
	folder := filepath.FromSlash(blobFolder(s.name))
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(folder))
	if err != nil {
		return ignoreMissing(err)
	}
	left := len(entries)
	for _, e := range entries {
		if _, ok := named[e.Name()]; ok || !isBlobName(e.Name()) {
			continue
		}
		if err := root.Remove(filepath.Join(folder, e.Name())); err != nil {
			return err
		}
		left--
	}
	if left == 0 {
		return root.Remove(folder)
	}
	return nil
}
