package main

import (
	"strings"

	vcr "gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// vcrRecord makes the calls through a recorder of go-vcr and returns the path of its cassette. Nothing is hidden in it.
func (l *lab) vcrRecord(list []exchange) (path string, err error) {
	name := l.path("")
	r, err := vcr.New(name, vcr.WithMode(vcr.ModeRecordOnly), vcr.WithSkipRequestLatency(true), vcr.WithRealTransport(&memory{list: list}))
	if err != nil {
		return "", err
	}
	defer closing(&err, r.Stop)
	c, err := newCaller(r)
	if err != nil {
		return "", err
	}
	return name + ".yaml", c.play(list)
}

// vcrReplay opens a cassette of go-vcr. Again says that it answers as often as it is asked.
func vcrReplay(path string, again bool) (*vcr.Recorder, error) {
	return vcr.New(strings.TrimSuffix(path, ".yaml"), vcr.WithMode(vcr.ModeReplayOnly), vcr.WithSkipRequestLatency(true),
		vcr.WithReplayableInteractions(again), vcr.WithRealTransport(unreachable{}))
}
