package main

import (
	"os"
	"testing"
)

// recordedFromMemory makes the calls of one recording without recording.
func (l *lab) recordedFromMemory(b *testing.B) error {
	list := callsWithSecret(l.sizes.recorded)
	c, err := newCaller(&memory{list: list})
	if err != nil {
		return err
	}
	for b.Loop() {
		if err := c.play(list); err != nil {
			return err
		}
	}
	return nil
}

// recordedBy makes one recording after the other, from opening it to the file on disk.
func (l *lab) recordedBy(record func([]exchange) (string, error)) work {
	return func(b *testing.B) error {
		list := callsWithSecret(l.sizes.recorded)
		for b.Loop() {
			path, err := record(list)
			if err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		return nil
	}
}

// conversationOnDisk records a conversation and reports the size of the file.
func (l *lab) conversationOnDisk(record func([]exchange) (string, error)) work {
	return func(b *testing.B) error {
		list, _ := conversation(l.sizes.turns)
		var size int64
		for b.Loop() {
			path, err := record(list)
			if err != nil {
				return err
			}
			if size, err = remove(path); err != nil {
				return err
			}
		}
		b.ReportMetric(float64(size), metricDisk)
		return nil
	}
}

// transcript reports the length of what was said in a conversation.
func (l *lab) transcript(b *testing.B) error {
	length := 0
	for b.Loop() {
		_, length = conversation(l.sizes.turns)
	}
	b.ReportMetric(float64(length), metricDisk)
	return nil
}

func (l *lab) asJSON(list []exchange) (string, error) { return l.record(list, ".json") }

func (l *lab) asJSONLines(list []exchange) (string, error) { return l.record(list, ".jsonl") }
