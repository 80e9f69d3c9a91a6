package main

import (
	"fmt"
	"sync"
)

const mb = 1e6

// rows returns the table. Rows that share a cassette share it over all their measurements.
func rows(l *lab) []row {
	var list []row
	list = append(list, liveRows(l)...)
	list = append(list, replayRows(l)...)
	list = append(list, sdkRows(l)...)
	list = append(list, recordRows(l)...)
	list = append(list, loadRows(l)...)
	return append(list, redactRows(l)...)
}

func one(u unit, b bar) []figure { return []figure{{unit: u, bar: b}} }

func liveRows(l *lab) []row {
	perChunk := timeOf(l.sizes.chunks)
	return []row{
		{"Publish to 3 subscribers", publish, callDirectly, "3 direct calls", one(events, atLeast(30e6))},
		{"Round trip, nobody listening, cassette linked", tripWith(nobodyListens), tripWith(asItIs), "bare transport",
			[]figure{{"time", duration, atMostMore(200)}, {"allocations", allocs, atMostMore(2)}}},
		{"Chunk of a stream, nobody listening", l.streamWith(nobodyListens), l.streamWith(asItIs), "bare transport", one(perChunk, atMostMore(60))},
		{"Chunk of a stream, someone listening", l.streamWith(someoneListens), l.streamWith(asItIs), "bare transport", one(perChunk, bar{})},
		{"Chunk of a stream, recording", l.streamRecorded, l.streamWith(asItIs), "bare transport", one(perChunk, atMostMore(500))},
	}
}

func replayRows(l *lab) []row {
	var list []row
	few := func() []exchange { return calls(1) }
	for _, n := range []int{1, l.sizes.some, l.sizes.many, l.sizes.most} {
		made := l.mixtape(func() []exchange { return calls(n) })
		list = append(list, row{fmt.Sprintf("Replay a call of 2 KB, %s in the file", count(n)), answeredByMixtape(made, spread), answeredFromMemory(few),
			"bare transport", one(duration, atMost(12e3))})
	}

	some := func() []exchange { return calls(l.sizes.some) }
	secretive := func() []exchange { return callsWithSecret(l.sizes.some) }
	many := func() []exchange { return calls(l.sizes.many) }
	list = append(list,
		row{fmt.Sprintf("Replay a call of 2 KB with a secret, %s in the file", count(l.sizes.some)), answeredByMixtape(l.mixtape(secretive), spread),
			answeredFromMemory(few), "bare transport", one(duration, atMost(12e3))},
		row{fmt.Sprintf("Replay a call of 2 KB, %s in the file, any order", count(l.sizes.many)), answeredByMixtape(l.mixtape(many), spread),
			answeredByVCR(recorded(many, l.vcrRecord)), "go-vcr", one(duration, timesFewer(100))},
		row{fmt.Sprintf("Replay a call of 2 KB, %s in the file, its order", count(l.sizes.some)), answeredByMixtape(l.mixtape(some), spread),
			answeredInOrderByVCR(recorded(some, l.vcrRecord)), "go-vcr", one(duration, bar{})})

	large := func() []exchange { return longCall(l.sizes.bytes) }
	turns := sync.OnceValue(func() []exchange {
		list, _ := conversation(l.sizes.turns)
		return list
	})
	return append(list,
		row{"Replay a call of 1 MB", answeredByMixtape(l.mixtape(large), last), validatedRequest(large), "json.Valid", one(speed, atLeast(250*mb))},
		row{fmt.Sprintf("Replay turn %d of a conversation, 800 bytes each", l.sizes.turns), answeredByMixtape(l.mixtape(turns), last),
			validatedRequest(turns), "json.Valid", one(duration, atMostX(1))})
}

func sdkRows(l *lab) []row {
	whole, stream := calls(1)[0], streamed(100)
	return []row{
		{"Replay through openai-go v3", l.sdkReplayed(askWhole, whole, whole.answer), sdkFromMemory(askWhole, whole, whole.answer),
			"openai-go in memory", one(duration, atMostX(1.25))},
		{"Replay a stream of 100 events through openai-go v3", l.sdkReplayed(askStream, stream, dataOf(stream.answer)),
			sdkFromMemory(askStream, stream, dataOf(stream.answer)), "openai-go in memory", one(duration, bar{})},
	}
}

func recordRows(l *lab) []row {
	perCall := timeOf(l.sizes.recorded)
	turns := fmt.Sprintf("%d turns of 800 bytes on disk", l.sizes.turns)
	return []row{
		{"Record a call of 2 KB + 2 KB with a secret, saving included", l.recordedBy(l.asJSON), l.recordedFromMemory, "bare transport", one(perCall, atMostMore(45e3))},
		{"Record a call of 2 KB + 2 KB, saving included", l.recordedBy(l.asJSON), l.recordedBy(l.vcrRecord), "go-vcr, hides nothing", one(perCall, bar{})},
		{turns + ", JSON", l.conversationOnDisk(l.asJSON), l.transcript, "transcript", one(disk, atMostX(3))},
		{turns + ", JSON Lines", l.conversationOnDisk(l.asJSONLines), l.transcript, "transcript", one(disk, atMostX(3))},
		{turns + ", JSON", l.conversationOnDisk(l.asJSON), l.conversationOnDisk(l.vcrRecord), "go-vcr", one(disk, bar{})},
	}
}

func loadRows(l *lab) []row {
	short := func() []exchange { return shortCalls(l.sizes.many) }
	tape, vcr := recorded(short, l.asJSON), recorded(short, l.vcrRecord)
	name := fmt.Sprintf("Open a cassette of %s, to its first answer", count(l.sizes.many))
	figures := []figure{{"time", duration, atMostX(1.2)}, {"memory", heap, atMostX(1.2)}}
	return []row{
		{fmt.Sprintf("Load a cassette of %s", count(l.sizes.many)), opened(tape, loaded), validated(tape), "json.Valid; file", figures},
		{name, opened(tape, toFirstAnswer), validated(tape), "json.Valid; file", figures},
		{name, opened(tape, toFirstAnswer), opened(vcr, toFirstAnswerByVCR), "go-vcr", []figure{{"time", duration, bar{}}, {"memory", heap, bar{}}}},
	}
}

func redactRows(l *lab) []row {
	return []row{
		{"Redact English text", l.redactedText, nil, "", one(speed, atLeast(600*mb))},
		{"Redact JSON with a secret each KB", l.redactedJSON, nil, "", one(speed, atLeast(200*mb))},
	}
}

// count writes a number of interactions.
func count(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}
