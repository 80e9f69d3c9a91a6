package main

import (
	"net/http"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// record makes the calls through a recording session and returns the path of the cassette. Saving is part of it.
func (l *lab) record(list []exchange, ext string) (path string, err error) {
	path = l.path(ext)
	s, err := cassette.Open(path, cassette.Record, cassette.OnBus(bus.New()))
	if err != nil {
		return "", err
	}
	defer closing(&err, s.Close)
	c, err := newCaller(core.Transport(&memory{list: list}, core.WithBus(s.Bus())))
	if err != nil {
		return "", err
	}
	return path, c.play(list)
}

// replay opens the cassette at path and returns a transport that it answers, as often as it is asked.
func replay(path string) (*cassette.Session, http.RoundTripper, error) {
	s, err := cassette.Open(path, cassette.Replay, cassette.RepeatLast(), cassette.AllowUnused(), cassette.OnBus(bus.New()))
	if err != nil {
		return nil, nil, err
	}
	return s, core.Transport(unreachable{}, core.WithBus(s.Bus())), nil
}
