package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// TestFormats holds for every format in the registry; a new one is tested by being there.
func TestFormats(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range formats() {
		if names[f.Name()] {
			t.Errorf("two formats are called %s", f.Name())
		}
		names[f.Name()] = true
		t.Run(f.Name(), func(t *testing.T) { testFormat(t, f) })
	}
	if _, ok := ByName("no.such.format"); ok {
		t.Error("a name that no format has was found")
	}
}

func testFormat(t *testing.T, f Format) {
	if got, ok := ByName(f.Name()); !ok || got != f {
		t.Errorf("ByName gives %v, %v", got, ok)
	}
	if f.Operation() == "" || f.Owner() == "" || f.Layout().Messages == "" {
		t.Error("operation, owner or message list has no name")
	}
	for _, path := range f.Layout().IDs {
		if !strings.HasPrefix(path, "$."+f.Layout().Messages+"[*].") {
			t.Errorf("the ids at %s are outside of the message list", path)
		}
	}

	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/"} {
		matches := 0
		for _, other := range formats() {
			if other.Match("POST", path, []byte("{}")) {
				matches++
			}
		}
		if matches > 1 {
			t.Errorf("%s matches %d formats", path, matches)
		}
	}
	if f.Match("POST", "/", []byte("{}")) || f.Match("POST", "", nil) || f.Match("", "", nil) {
		t.Error("what names no format matches")
	}

	for _, stream := range []string{"", "\n", ": comment\n\n", "data: {}\n\n", "data: {\n\n", "garbage", "data: [DONE"} {
		if got := f.Ended([]byte(stream)); got != Unfinished {
			t.Errorf("Ended(%q) = %s", stream, progressNames[got])
		}
	}

	garbage := []string{"garbage", "{", "[]", "null", "\xff\xfe", `{"a":`, `"text"`, strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 5000)}
	for _, body := range garbage {
		if _, err := f.DecodeRequest([]byte(body)); err == nil {
			t.Errorf("DecodeRequest(%.20q) gave no error", body)
		}
		for _, streamed := range []bool{false, true} {
			for _, status := range []int{200, 500} {
				if _, err := f.DecodeResponse([]byte(body), status, streamed); err == nil {
					t.Errorf("DecodeResponse(%.20q, %d, %v) gave no error", body, status, streamed)
				}
			}
		}
	}
	if _, err := f.DecodeResponse(nil, 200, true); err == nil {
		t.Error("an empty stream gave no error")
	}
	if r, err := f.DecodeResponse(nil, 401, false); err != nil || r.Error != nil {
		t.Errorf("an error status without a body: %v, %s", err, r.Error)
	}

	// An error status has an error and no messages.
	r, err := f.DecodeResponse([]byte(`{"error":{"type":"x"},"more":1}`), 429, false)
	if err != nil || string(r.Error) != `{"type":"x"}` || r.Messages != nil || string(r.Extra["more"]) != "1" {
		t.Errorf("an error status: %+v, %v", r, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, format := range formats() {
		for _, s := range scenarioSections(f, format) {
			f.Add(s.body, 200)
		}
	}
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"index":1e30,"id":5}]},"index":-1}]}`), 200)
	f.Add([]byte(`{"error":null}`), 500)
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		before := bytes.Clone(body)
		for _, format := range formats() {
			format.Ended(body)
			if r, err := format.DecodeRequest(body); err == nil {
				checkMessages(t, r.Messages)
			}
			for _, streamed := range []bool{false, true} {
				r, _ := format.DecodeResponse(body, status, streamed)
				checkMessages(t, r.Messages)
				if r.Error != nil && !jsonlex.Valid(r.Error) {
					t.Fatalf("%s: the error is no JSON: %q", format.Name(), r.Error)
				}
				for name, value := range r.Extra {
					if !jsonlex.Valid(value) {
						t.Fatalf("%s: member %q is no JSON: %q", format.Name(), name, value)
					}
				}
			}
		}
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}
	})
}

// checkMessages checks that what is said to be JSON is.
func checkMessages(t *testing.T, messages []bus.Message) {
	t.Helper()
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case bus.OtherPart:
				if !jsonlex.Valid(p.Raw) {
					t.Fatalf("part %q is no JSON: %q", p.Type, p.Raw)
				}
			case bus.ToolResponsePart:
				if p.Response != nil && !jsonlex.Valid(p.Response) {
					t.Fatalf("the response %q is no JSON", p.Response)
				}
			case nil:
				t.Fatal("a part is nil")
			}
		}
	}
}
