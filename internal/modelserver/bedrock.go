package modelserver

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
)

var bedrock = format{
	name:        "bedrock.converse",
	contentType: "application/vnd.amazon.eventstream",
	plain: func(a Answer, model string) any {
		content := []object{}
		if a.Text != "" {
			content = append(content, object{"text": a.Text})
		}
		for _, t := range a.Tools {
			content = append(content, object{"toolUse": object{"toolUseId": t.ID, "name": t.Name, "input": json.RawMessage(t.Arguments)}})
		}
		return object{
			"output":     object{"message": object{"role": "assistant", "content": content}},
			"stopReason": anthropicStop(a), "usage": bedrockUsage(), "metrics": object{"latencyMs": 1},
		}
	},
	events: func(a Answer, model string) [][]byte {
		events := [][]byte{frame("messageStart", object{"role": "assistant"})}
		block := 0
		for _, p := range pieces(a.Text) {
			events = append(events, frame("contentBlockDelta", object{"contentBlockIndex": block, "delta": object{"text": p}}))
		}
		if a.Text != "" {
			events = append(events, frame("contentBlockStop", object{"contentBlockIndex": block}))
			block++
		}
		for _, t := range a.Tools {
			start := object{"toolUse": object{"toolUseId": t.ID, "name": t.Name}}
			events = append(events, frame("contentBlockStart", object{"contentBlockIndex": block, "start": start}))
			for _, p := range pieces(t.Arguments) {
				events = append(events, frame("contentBlockDelta", object{"contentBlockIndex": block, "delta": object{"toolUse": object{"input": p}}}))
			}
			events = append(events, frame("contentBlockStop", object{"contentBlockIndex": block}))
			block++
		}
		return append(events,
			frame("messageStop", object{"stopReason": anthropicStop(a)}),
			frame("metadata", object{"usage": bedrockUsage(), "metrics": object{"latencyMs": 1}}))
	},
	failure: func(a Answer) any {
		kind := "ValidationException"
		if a.Status == 429 {
			kind = "ThrottlingException"
		}
		return object{"__type": kind, "message": a.Text}
	},
}

func bedrockUsage() object {
	return object{"inputTokens": InputTokens, "outputTokens": OutputTokens, "totalTokens": InputTokens + OutputTokens}
}

// frame makes one message of an AWS event stream.
func frame(event string, payload any) []byte {
	var headers []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		const stringValue = 7
		headers = append(headers, byte(len(h[0])))
		headers = append(headers, h[0]...)
		headers = append(headers, stringValue)
		headers = binary.BigEndian.AppendUint16(headers, uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	body := encode(payload)
	const overhead = 16 // two lengths and two checksums
	b := binary.BigEndian.AppendUint32(nil, uint32(overhead+len(headers)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}
