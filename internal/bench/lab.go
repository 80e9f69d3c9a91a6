package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// lab keeps what several benchmarks use: a folder, and the files in it.
type lab struct {
	dir   string
	sizes sizes
	files int
}

// sizes are how much the rows do.
type sizes struct {
	some, many, most int // interactions in a file, besides 1
	recorded         int // calls in one recording
	chunks           int // events in one stream
	turns            int // turns of a conversation
	bytes            int // of a large text
}

var (
	fullSizes = sizes{some: 1_000, many: 10_000, most: 100_000, recorded: 1_000, chunks: 1_000, turns: 100, bytes: 1 << 20}
	// smallSizes are enough to see that everything runs.
	smallSizes = sizes{some: 10, many: 20, most: 30, recorded: 10, chunks: 10, turns: 5, bytes: 1 << 14}
)

func newLab(dir string, s sizes) *lab { return &lab{dir: dir, sizes: s} }

// path returns a name in the lab's folder that nobody has used yet.
func (l *lab) path(ext string) string {
	l.files++
	return filepath.Join(l.dir, fmt.Sprintf("%04d%s", l.files, ext))
}

// remove removes the file at path and returns the size that it had.
func remove(path string) (size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), os.Remove(path)
}

// play makes all calls through c, in order.
func (c *caller) play(list []exchange) error {
	for _, x := range list {
		if err := c.call(x); err != nil {
			return err
		}
	}
	return nil
}

// closing calls fn, which closes something, and adds what it says to err.
func closing(err *error, fn func() error) { *err = errors.Join(*err, fn()) }
