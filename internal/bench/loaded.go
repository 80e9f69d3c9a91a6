package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
)

var errNotJSON = errors.New("the cassette is no JSON")

// opening opens a cassette in one way or another; done lets go of what it holds.
type opening func(recording) (done func() error, err error)

// toFirstAnswer opens a cassette for a replay and makes one call.
func toFirstAnswer(r recording) (func() error, error) {
	s, rt, err := replay(r.path)
	if err != nil {
		return nil, err
	}
	return s.Close, r.callLast(rt)
}

// toFirstAnswerByVCR does the same with a cassette of go-vcr.
func toFirstAnswerByVCR(r recording) (func() error, error) {
	rec, err := vcrReplay(r.path, true)
	if err != nil {
		return nil, err
	}
	return rec.Stop, r.callLast(rec)
}

// loaded reads a cassette as a value.
func loaded(r recording) (func() error, error) {
	f, err := cassette.Load(r.path)
	if err != nil {
		return nil, err
	}
	return func() error {
		if f.Len() != len(r.list) {
			return fmt.Errorf("the cassette holds %d of %d interactions", f.Len(), len(r.list))
		}
		return nil
	}, nil
}

// callLast makes the last of the recorded calls.
func (r recording) callLast(rt http.RoundTripper) error {
	c, err := newCaller(rt)
	if err != nil {
		return err
	}
	return c.call(r.list[len(r.list)-1])
}

// opened opens a cassette again and again, and reports the memory that it holds while it is open.
func opened(made func() (recording, error), open opening) work {
	return func(b *testing.B) error {
		r, err := made()
		if err != nil {
			return err
		}
		before := heapInUse()
		done, err := open(r)
		if err != nil {
			return err
		}
		held := heapInUse() - before
		if err := done(); err != nil {
			return err
		}
		for b.Loop() {
			done, err := open(r)
			if err != nil {
				return err
			}
			if err := done(); err != nil {
				return err
			}
		}
		b.ReportMetric(held, metricHeap)
		return nil
	}
}

func heapInUse() float64 {
	var m runtime.MemStats
	for range 2 { // what a finalizer lets go of is freed by the next cycle
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// validated passes once over the bytes of a cassette with encoding/json, and reports their number as the memory.
func validated(made func() (recording, error)) work {
	return func(b *testing.B) error {
		r, err := made()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(r.path)
		if err != nil {
			return err
		}
		return validate(b, data)
	}
}

func validate(b *testing.B, data []byte) error {
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if !json.Valid(data) {
			return errNotJSON
		}
	}
	b.ReportMetric(float64(len(data)), metricHeap)
	return nil
}

// validatedRequest passes once over the last request of the list.
func validatedRequest(list func() []exchange) work {
	return func(b *testing.B) error {
		list := list()
		return validate(b, list[len(list)-1].request)
	}
}
