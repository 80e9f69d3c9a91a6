package cassette

import (
	"errors"
	"strings"
	"testing"
)

// checkFileError checks that err is a *FileError in interaction i, counted from 1, that says want.
func checkFileError(t *testing.T, err error, i int, want string) *FileError {
	t.Helper()
	var fe *FileError
	if !errors.As(err, &fe) {
		t.Fatalf("error %v (%T), want a *FileError with %q", err, err, want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error\n%v\ndoes not say\n%s", err, want)
	}
	if fe.Interaction != i {
		t.Errorf("in interaction %d, want %d: %v", fe.Interaction, i, err)
	}
	if fe.Path == "" || fe.Remedy == "" || fe.Err == nil || !strings.HasPrefix(err.Error(), "cassette "+fe.Path) {
		t.Errorf("incomplete: %v", err)
	}
	return fe
}

func TestFault92And116FilesThatCannotBeRead(t *testing.T) {
	const head = "{\n  \"format\": \"mixtape/1\",\n  \"interactions\": [\n"
	one := func(interaction string) string { return head + "    " + interaction + "\n  ]\n}\n" }
	for _, test := range []struct {
		reason      string
		text        string
		interaction int
		line        int
		want        string
	}{
		{"empty", "", 0, 1, "the file is empty"},
		{"blank", " \r\n", 0, 1, "the file is empty"},
		{"a byte order mark alone", "\uFEFF", 0, 1, "the file is empty"},
		{"an array", "\n[]", 0, 2, "the file is an array"},
		{"no JSON", "interactions:\n- a", 0, 1, "no JSON value begins like this"},
		{"a string", `"x"`, 0, 1, "must be an object, not a string"},
		{"another version", `{"format":"mixtape/2","interactions":[]}`, 0, 1, `the format is "mixtape/2"; this version reads "mixtape/1"`},
		{"no version", `{"interactions":[]}`, 0, 1, `does not say "format": "mixtape/1"`},
		{"no interactions", `{"format":"mixtape/1"}`, 0, 1, "no interactions"},
		{"text after the end", head + "]}\n{}", 0, 5, "text after the value"},
		{"cut in the header", head[:20], 0, 2, "the file is cut short"},
		{"cut between interactions", head + "{\"kind\":\"tool\"},\n", 0, 5, "the file is cut short"},
		{"cut in an interaction", head + "{\"kind\":\"tool\",\n\"name\":\"re", 1, 5, "a string does not end"},
		{"a merge conflict", head + "<<<<<<< HEAD\n{\"kind\":\"tool\"}\n=======\n{\"kind\":\"func\"}\n>>>>>>> theirs\n]}", 0, 4, "merge conflict in a.json at line 4"},
		{"what is left of a merge conflict", head + "{\"kind\":\"tool\"}\r\n=======\r\n{\"kind\":\"func\"}\n]}", 0, 5, "merge conflict in a.json at line 5"},
		{"an unknown kind", one(`{"kind":"video"}`), 1, 4, `unknown interaction kind "video"`},
		{"a kind that is no string", one(`{"kind":1}`), 1, 4, "kind must be a string"},
		{"no kind", one(`{"name":"a"}`), 1, 4, "an interaction has no kind"},
		{"an interaction that is none", one(`[]`), 1, 4, "an interaction must be an object, not an array"},
		{"the second of two", one(`{"kind":"tool"},` + "\n{\"kind\":\"x\"}"), 2, 5, `"x"`},
		{"a member twice", one(`{"kind":"tool","name":"a","name":"b"}`), 1, 4, `two members "name"`},
		{"too deep", one(`{"kind":"tool","arguments":` + strings.Repeat("[", 1100)), 1, 4, "nested deeper than 1000"},
		{"invalid UTF-8", one("{\"kind\":\"tool\",\"name\":\"\xff\"}"), 1, 4, "invalid UTF-8"},
		{"half a surrogate pair in a text", one(`{"kind":"tool","name":"\ud83d"}`), 1, 4, "surrogate"},
		{"a number for a text", one(`{"kind":"tool","name":1}`), 1, 4, "name must be a string, not a number"},
		{"an object for a text", one(`{"kind":"tool","name":{}}`), 1, 4, "name must be a string or"},
		{"a text for a number", one(`{"kind":"tool","attempt":"1"}`), 1, 4, "attempt must be a whole number"},
		{"a negative number", one(`{"kind":"tool","start_ms":-1}`), 1, 4, "start_ms must be a whole number"},
		{"a fraction", one(`{"kind":"tool","start_ms":1.5}`), 1, 4, "start_ms must be a whole number"},
		{"a number too large", one(`{"kind":"tool","start_ms":9223372036854775807}`), 1, 4, "start_ms must be a whole number"},
		{"an unknown ending", one(`{"kind":"tool","ending":"sad"}`), 1, 4, `unknown ending "sad"`},
		{"a retry of nothing", one(`{"kind":"tool","back":1}`), 1, 4, "back is 1, and only 0 interactions stand before"},
		{"a call within nothing", one(`{"kind":"tool","within":1}`), 1, 4, "within is 1, and only 0 interactions stand before"},
		{"no status", one(`{"kind":"http","response":{}}`), 1, 4, "response.status"},
		{"a body and a stream", one(`{"kind":"http","response":{"status":200,"body":{"text":""},"stream":{"text":""}}}`), 1, 4, "both a body and a stream"},
		{"a body in two forms", one(`{"kind":"http","request":{"body":{"json":1,"text":"1"}}}`), 1, 4, "two forms, json and text"},
		{"a body in a form of later versions", one(`{"kind":"http","request":{"body":{"later":"x"}}}`), 1, 4, "nothing that this version can read"},
		{"an unknown layout", one(`{"kind":"http","request":{"body":{"json":1,"layout":"wide"}}}`), 1, 4, `"wide"`},
		{"no base64", one(`{"kind":"http","request":{"body":{"base64":"a!"}}}`), 1, 4, "is not base64"},
		{"a header that is none", one(`{"kind":"http","request":{"headers":{"a":1}}}`), 1, 4, "request.headers must be a string"},
		{"a stream without events", one(`{"kind":"http","response":{"status":200,"stream":{"framing":"sse"}}}`), 1, 4, "nothing that this version can read"},
		{"an unknown framing", one(`{"kind":"http","response":{"status":200,"stream":{"framing":"x","events":[]}}}`), 1, 4, `"x"`},
		{"an unknown line end", one(`{"kind":"http","response":{"status":200,"stream":{"eol":"x","events":[]}}}`), 1, 4, "lf, crlf or cr"},
		{"events over several lines", one(`{"kind":"http","response":{"status":200,"stream":{"layout":"indent 2","events":[]}}}`), 1, 4, "single line"},
		{"an event with a line break", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{"event":"a\nb"}]}}}`), 1, 4, "line break"},
		{"a text with a carriage return", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{"text":"a\rb"}]}}}`), 1, 4, "carriage return"},
		{"an event of later versions", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{"data":1,"x":1}]}}}`), 1, 4, `unknown member "x"`},
		{"an empty event", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{}]}}}`), 1, 4, "no members"},
		{"an event that is raw and not", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{"raw":"","data":1}]}}}`), 1, 4, "raw event"},
		{"an event with data and text", one(`{"kind":"http","response":{"status":200,"stream":{"events":[{"text":"","data":1}]}}}`), 1, 4, "both data and text"},
		{"an SSE field in JSON lines", one(`{"kind":"http","response":{"status":200,"stream":{"framing":"ndjson","events":[{"id":""}]}}}`), 1, 4, `member "id"`},
		{"a cut that is no number", one(`{"kind":"http","response":{"status":200,"stream":{"text":"","cuts":[null]}}}`), 1, 4, "cuts must be a whole number"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := decodeFile("a.json", []byte(test.text))
			fe := checkFileError(t, err, test.interaction, test.want)
			if fe.Line != test.line || fe.Column < 1 {
				t.Errorf("at %d:%d, want line %d", fe.Line, fe.Column, test.line)
			}
		})
	}
}

func TestLinesThatCannotBeRead(t *testing.T) {
	const head = `{"format":"mixtape/1","interactions":2}` + "\n"
	for _, test := range []struct {
		reason      string
		text        string
		interaction int
		line        int
		want        string
	}{
		{"empty", "", 0, 1, "the file is empty"},
		{"a lost line", head + `{"kind":"tool"}` + "\n", 0, 3, "the file has 1 interactions and its first line says 2"},
		{"a line too many", head + strings.Repeat(`{"kind":"tool"}`+"\n", 3), 0, 5, "the file has 3 interactions and its first line says 2"},
		{"a cut line", head + `{"kind":"tool"}` + "\n" + `{"kind":"to`, 2, 3, "a string does not end"},
		{"JSON over several lines", "{\n  \"format\": \"mixtape/1\",\n", 0, 2, "must be named .json"},
		{"two on a line", head + `{"kind":"tool"}{"kind":"tool"}`, 0, 2, "text after the value"},
		{"a merge conflict", head + "{\"kind\":\"tool\"}\n=======\n", 0, 3, "merge conflict in a.jsonl at line 3"},
		{"an unknown kind", head + `{"kind":"tool"}` + "\n" + `{"kind":"x"}`, 2, 3, `"x"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := decodeFile("a.jsonl", []byte(test.text))
			if fe := checkFileError(t, err, test.interaction, test.want); fe.Line != test.line {
				t.Errorf("in line %d, want %d: %v", fe.Line, test.line, err)
			}
		})
	}
}

// Whatever byte a file is cut at, it is an error that names the file.
func TestFileCutAnywhere(t *testing.T) {
	f := fileOf(turns(3)...)
	bothForms(t, func(t *testing.T, name string) {
		text := f.Encode(name)
		for n := range len(text) - 1 { // the last byte is a line end
			if _, err := decodeFile(name, text[:n]); err == nil {
				t.Fatalf("cut at %d of %d it loads", n, len(text))
			} else {
				var fe *FileError
				if !errors.As(err, &fe) || fe.Remedy == "" {
					t.Fatalf("cut at %d: %v", n, err)
				}
			}
		}
	})
}
