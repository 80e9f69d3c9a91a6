package cassette

import (
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/cassette/internal/match"
	"github.com/mixtape-go/mixtape/core/redact"
)

// A cassette may come from a stranger. These tests load files that were made to cost much, and hold the bytes that this
// allocates, and those that stay, against the size of the file. Time is not measured: where an algorithm could be quadratic
// without allocating, the sizes are such that it would run into the time limit of the test.
//
// None of them is parallel, since what others allocate would count.

// hostileSlack is what a load may allocate, and keep, whatever the size of the file: its rules, and what is pooled.
const hostileSlack = 2 << 20

// hostileParts are texts round what a test makes up.
const (
	hostileOpen  = `{"format":"mixtape/1","interactions":[`
	hostileClose = "]}\n"
)

func hostileFile(interactions ...string) string {
	return hostileOpen + strings.Join(interactions, ",") + hostileClose
}

// hostileHTTP is an exchange with these members in its request and its answer.
func hostileHTTP(request, response string) string {
	return `{"kind":"http","request":{` + request + `},"response":{"status":200` + response + `}}`
}

func hostileBody(members string) string { return hostileHTTP(`"body":{`+members+`}`, "") }

func hostileStream(members string) string { return hostileHTTP("", `,"stream":{`+members+`}`) }

// hostileTurn is a request in a format with message lists, after what extends says if that is not empty.
func hostileTurn(extends, items string) string {
	return `{"kind":"llm","format":"openai.chat","request":{"body":{` + extends + `"json":{"messages":[` + items + `]}}}}`
}

func hostileExtends(back, items any, hash string) string {
	return fmt.Sprintf(`"extends":{"member":"messages","back":%v,"items":%v,"hash":%q},`, back, items, hash)
}

// hostileList joins n texts with commas.
func hostileList(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(i))
	}
	return b.String()
}

func always(text string) func(int) string { return func(int) string { return text } }

// hostileChain returns n turns, each with one small element more than the one before, and the hashes of the first 1, 2, …
// elements.
func hostileChain(n int) (turns []string, hashes []chainHash) {
	for i := range n {
		item := fmt.Sprint(i)
		if i == 0 {
			hashes = append(hashes, firstHash([]byte(item)))
			turns = append(turns, hostileTurn("", item))
			continue
		}
		turns = append(turns, hostileTurn(hostileExtends(1, i, hashes[i-1].String()), item))
		hashes = append(hashes, hashes[i-1].next([]byte(item)))
	}
	return turns, hashes
}

// hostileOnes returns a list of n elements of one byte, and the hashes of the first 1, 2, … of them.
func hostileOnes(n int) (items string, hashes []chainHash) {
	hashes = append(hashes, firstHash([]byte("1")))
	for len(hashes) < n {
		hashes = append(hashes, hashes[len(hashes)-1].next([]byte("1")))
	}
	return hostileList(n, always("1")), hashes
}

// loadHostile loads a cassette as a replay does, and decodes its first, its middle and its last interaction.
func loadHostile(path string, data []byte) (*tape, error) {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		return nil, err
	}
	c, err := newComparer(&settings{}, r)
	if err != nil {
		return nil, err
	}
	var outlines []outline
	none := func(name string) ([]byte, error) { return nil, errors.New("there is no blob") }
	f, err := readFile(path, data, none, func(o outline) { outlines = append(outlines, o) })
	if err != nil {
		return nil, err
	}
	r.Names(f.Rules...)
	for fp := range redact.Placeholders(data) {
		r.Known(fp)
	}
	t, err := newTape(f, outlines, c, false)
	if err != nil {
		return nil, &FileError{Path: path, Err: err, Remedy: remedyEdit}
	}
	if n := f.Len(); n > 0 {
		for _, i := range slices.Compact([]int{0, n / 2, n - 1}) {
			f.Interaction(i)
		}
	}
	return t, nil
}

// cost is how many bytes something allocates, and how many of these its result keeps alive.
type cost struct{ allocated, retained int }

func costOf[T any](do func() T) cost {
	var before, after, kept runtime.MemStats
	runtime.GC()
	runtime.GC() // a pool keeps what it holds for one collection
	runtime.ReadMemStats(&before)
	result := do()
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&kept)
	runtime.KeepAlive(result)
	return cost{int(after.TotalAlloc - before.TotalAlloc), int(kept.HeapAlloc) - int(before.HeapAlloc)}
}

// checkHostileError checks that err is want, or nil when that is empty, and that it can be shown to anybody.
func checkHostileError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("it does not load: %.500s", err.Error())
		}
		return
	}
	var fe *FileError
	if !errors.As(err, &fe) {
		t.Errorf("error %v (%T), want a *FileError with %q", err, err, want)
		return
	}
	text := err.Error()
	if !strings.Contains(text, want) {
		t.Errorf("error %.500q does not say %q", text, want)
	}
	if len(text) > 500 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		t.Errorf("error of %d bytes: %.500q", len(text), text)
	}
	if !strings.HasPrefix(text, "cassette "+fe.Path) || fe.Line == 0 && !strings.Contains(text, "interaction ") || fe.Remedy == "" || !strings.HasSuffix(text, fe.Remedy) {
		t.Errorf("file, place or remedy is missing: %.500q", text)
	}
}

// TestHostileGrowth loads files of two sizes.
func TestHostileGrowth(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector allocates too")
	}
	deep := func(before string) func(n int) string {
		return func(n int) string { return hostileOpen + before + strings.Repeat("[", n) }
	}
	one := func(interaction func(n int) string) func(n int) string {
		return func(n int) string { return hostileFile(interaction(n)) }
	}
	for _, test := range []struct {
		reason              string
		name                string
		n                   int // the first file is made with half of that
		text                func(n int) string
		want                string // a part of the error; empty when there is none
		allocated, retained int    // limits, as multiples of the file's size
	}{
		{"a body nests for ever", "a.json", 10 << 20, deep(`{"kind":"http","request":{"body":{"json":`), "nested deeper than 1000", 1, 0},
		{"an unknown member nests for ever", "a.json", 10 << 20, deep(`{"kind":"http","later":`), "nested deeper than 1000", 1, 0},
		{"a header's value nests for ever", "a.json", 10 << 20, deep(`{"kind":"http","request":{"headers":{"a":`), "request.headers must be a string", 1, 0},
		{"an event nests for ever", "a.json", 10 << 20, deep(`{"kind":"http","response":{"status":200,"stream":{"events":[{"data":`), "nested deeper than 1000", 1, 0},
		{"a line nests for ever", "a.jsonl", 10 << 20, func(n int) string {
			return `{"format":"mixtape/1","interactions":1}` + "\n" + `{"kind":"tool","result":` + strings.Repeat(`{"a":`, n/5)
		}, "nested deeper than 1000", 1, 0},

		// To expand each turn of a chain would take 16,000²/2 elements: 10 GB.
		{"a chain of turns", "a.json", 16000, func(n int) string {
			turns, _ := hostileChain(n)
			return hostileFile(turns...)
		}, "", 35, 9},
		// To walk the chain from its end for each takes 256 million steps, and to hash it 10 GB.
		{"turns that go on from the beginning of a chain's end", "a.json", 16000, func(n int) string {
			turns, hashes := hostileChain(n)
			for i := range n {
				items := 1 + i%3
				turns = append(turns, hostileTurn(hostileExtends(i+1, items, hashes[items-1].String()), "1"))
			}
			return hostileFile(turns...)
		}, "", 30, 8},
		// To hash the list from its beginning for each takes 800 million hashes.
		{"turns that go on from descending places of one list", "a.json", 16000, func(n int) string {
			const each = 6
			items, hashes := hostileOnes(each * n)
			turns := []string{hostileTurn("", items)}
			for i := range n {
				at := each * (n - i)
				turns = append(turns, hostileTurn(hostileExtends(i+1, at, hashes[at-1].String()), "1"))
			}
			return hostileFile(turns...)
		}, "", 35, 8},
		{"a list of elements of one byte", "a.json", 1_000_000, one(func(n int) string {
			return hostileTurn("", hostileList(n, always("1")))
		}), "", 2, 2},
		{"a list of elements of one byte that another goes on from", "a.json", 1_000_000, func(n int) string {
			items, hashes := hostileOnes(n)
			return hostileFile(hostileTurn("", items), hostileTurn(hostileExtends(1, n, hashes[n-1].String()), "1"))
		}, "", 15, 2},

		{"many chunks", "a.json", 1_000_000, one(func(n int) string {
			zeros := hostileList(n, always("0"))
			return hostileStream(`"text":"","times":[` + zeros + `],"cuts":[` + zeros + `]`)
		}), "", 40, 1},
		{"cuts whose sum is large", "a.json", 1_000_000, one(func(n int) string {
			cuts := hostileList(n, always("1000000000"))
			return hostileStream(`"text":"a","times":[` + cuts + `],"cuts":[` + cuts + `]`)
		}), "", 7, 1},
		{"times without cuts", "a.json", 1_000_000, one(func(n int) string {
			return hostileStream(`"events":[{"data":1},{"data":2}],"times":[` + hostileList(n, always("1")) + `]`)
		}), "", 35, 1},
		{"many events", "a.json", 100_000, one(func(n int) string {
			return hostileStream(`"events":[` + hostileList(n, always(`{"data":1}`)) + `]`)
		}), "", 20, 1},
		{"events of many lines", "a.json", 1 << 20, one(func(n int) string {
			return hostileStream(`"eol":"crlf","events":[{"text":"` + strings.Repeat(`\n`, n) + `"}]`)
		}), "", 35, 1},
		{"an event with many fields", "a.json", 10_000, one(func(n int) string {
			return hostileStream(`"events":[{` + hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }) + `}]`)
		}), `an event has an unknown member "a0"`, 1, 0},

		// The exponent of a number is added to as text, and never counted out.
		{"a number of many digits", "a.json", 1 << 20, one(func(n int) string { return hostileBody(`"json":` + strings.Repeat("9", n)) }), "", 4, 1},
		{"an exponent of many digits", "a.json", 1 << 20, one(func(n int) string { return hostileBody(`"json":1e` + strings.Repeat("9", n)) }), "", 4, 1},
		{"large exponents", "a.json", 10_000, one(func(n int) string {
			return hostileBody(`"json":[` + hostileList(n, always("1e999999999")) + `]`)
		}), "", 15, 1},
		{"a status of many digits", "a.json", 1 << 20, one(func(n int) string {
			return `{"kind":"http","response":{"status":` + strings.Repeat("9", n) + `}}`
		}), "response.status must be a whole number from 0 to 9999", 3, 0},

		{"interactions of nothing", "a.json", 200_000, func(n int) string { return hostileFile(hostileList(n, always(`{"kind":"tool"}`))) }, "", 255, 39},
		{"lines of nothing", "a.jsonl", 200_000, func(n int) string {
			return fmt.Sprintf(`{"format":"mixtape/1","interactions":%d}`, n) + strings.Repeat("\n"+`{"kind":"tool"}`, n)
		}, "", 255, 39},
		{"retries of one call", "a.json", 50_000, func(n int) string {
			return hostileFile(`{"kind":"tool"}`, hostileList(n, always(`{"kind":"tool","attempt":1,"back":1}`)))
		}, "", 95, 14},
		{"calls inside of calls", "a.json", 50_000, func(n int) string {
			return hostileFile(`{"kind":"tool"}`, hostileList(n, always(`{"kind":"tool","within":1}`)))
		}, "", 135, 24},
		// An insertion sort moves each of 100,000 members past half of the others: five thousand million steps.
		{"members out of order", "a.json", 100_000, one(func(n int) string {
			return hostileBody(`"json":{` + hostileList(n, func(i int) string { return fmt.Sprintf(`"%06d":1`, 999_999-i) }) + `}`)
		}), "", 45, 1},
		{"members of one name", "a.json", 100_000, one(func(n int) string {
			return hostileBody(`"json":{` + hostileList(n, always(`"a":1`)) + `}`)
		}), "", 55, 1},
		{"unknown members of a file", "a.json", 100_000, func(n int) string {
			return strings.TrimSuffix(hostileFile(), "}\n") + "," + hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }) + "}\n"
		}, "", 55, 9},
		{"unknown members of an interaction", "a.json", 100_000, one(func(n int) string {
			return `{"kind":"tool",` + hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }) + `}`
		}), "", 65, 1},
		{"unknown members of a body", "a.json", 100_000, one(func(n int) string {
			return hostileBody(`"json":1,` + hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }))
		}), "", 65, 1},
		{"a summary of many models", "a.json", 100_000, func(n int) string {
			return `{"format":"mixtape/1","summary":{"models":{` + hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }) + `}},"interactions":[]}`
		}, "", 25, 6},
		{"links of a failure", "a.json", 100_000, one(func(n int) string {
			return `{"kind":"tool","failure":{"chain":[` + hostileList(n, always(`{}`)) + `]}}`
		}), "", 90, 1},

		{"a text with an escape for each character", "a.json", 1 << 20, one(func(n int) string { return hostileBody(`"text":"` + strings.Repeat(`\u0041`, n) + `"`) }), "", 6, 1},
		{"a JSON string with an escape for each character", "a.json", 1 << 20, one(func(n int) string { return hostileBody(`"json":"` + strings.Repeat(`\"`, n) + `"`) }), "", 10, 2},
		{"a name with an escape for each character", "a.json", 1 << 20, one(func(n int) string {
			return `{"kind":"tool","name":"` + strings.Repeat(`\u0041`, n) + `"}`
		}), "", 5, 1},
		{"an event with an escape for each character", "a.json", 1 << 20, one(func(n int) string {
			return hostileStream(`"events":[{"raw":"` + strings.Repeat(`\u0041`, n) + `"}]`)
		}), "", 5, 1},
		{"base64 of much", "a.json", 5 << 20, one(func(n int) string {
			return hostileBody(`"base64":"` + base64.StdEncoding.EncodeToString(make([]byte, n)) + `"`)
		}), "", 10, 2},
		{"a long URL", "a.json", 1 << 20, one(func(n int) string {
			return hostileHTTP(`"method":"GET","url":"http://a/`+strings.Repeat("a", n)+`?b"`, "")
		}), "", 8, 2},
		{"a URL of many parameters", "a.json", 100_000, one(func(n int) string {
			return hostileHTTP(`"method":"GET","url":"http://a/?`+strings.Repeat("a&", n)+`"`, "")
		}), "", 195, 3},
		{"a URL of many escapes", "a.json", 1 << 20, one(func(n int) string {
			return hostileHTTP(`"method":"GET","url":"http://a/`+strings.Repeat("%41", n/3)+`"`, "")
		}), "", 15, 2},
		{"a header with many values", "a.json", 100_000, one(func(n int) string {
			return hostileHTTP(`"headers":{"A":[`+hostileList(n, always(`""`))+`]}`, "")
		}), "", 90, 1},
		{"many headers", "a.json", 100_000, one(func(n int) string {
			return hostileHTTP(`"headers":{`+hostileList(n, func(i int) string { return fmt.Sprintf(`"a%d":""`, i) })+`}`, "")
		}), "", 40, 1},
		// To look each up in the list of the others takes ten thousand million comparisons.
		{"many placeholders", "a.json", 100_000, one(func(n int) string {
			return hostileBody(`"json":[` + hostileList(n, func(i int) string { return `"<email:` + redact.WholeFingerprint(fmt.Append(nil, i))[:8] + `>"` }) + `]`)
		}), "", 20, 6},
		{"many secrets", "a.json", 20_000, one(func(n int) string {
			return hostileBody(`"json":[` + hostileList(n, func(i int) string { return fmt.Sprintf(`"jo%d@a.io"`, i) }) + `]`)
		}), "", 95, 30},
		{"a line of spaces", "a.json", 64 << 20, func(n int) string { return strings.Repeat(" ", n) }, "the file is empty", 1, 0},
		{"a line of spaces in JSON Lines", "a.jsonl", 64 << 20, func(n int) string {
			return `{"format":"mixtape/1","interactions":0}` + "\n" + strings.Repeat(" ", n)
		}, "", 1, 0},
		{"empty lines", "a.jsonl", 5 << 20, func(n int) string {
			return `{"format":"mixtape/1","interactions":0}` + strings.Repeat("\n", n)
		}, "", 1, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			load := func(n int) (c cost, size int) {
				data := []byte(test.text(n))
				c = costOf(func() *tape {
					tape, err := loadHostile(test.name, data)
					checkHostileError(t, err, test.want)
					return tape
				})
				runtime.KeepAlive(data)
				if c.allocated > test.allocated*len(data)+hostileSlack {
					t.Errorf("%d bytes allocate %d, %.1f times as many", len(data), c.allocated, float64(c.allocated)/float64(len(data)))
				}
				if c.retained > test.retained*len(data)+hostileSlack {
					t.Errorf("%d bytes retain %d more, %.1f times as many", len(data), c.retained, float64(c.retained)/float64(len(data)))
				}
				return c, len(data)
			}
			half, _ := load(test.n / 2)
			whole, size := load(test.n)
			if whole.allocated > 5*half.allocated/2+hostileSlack {
				t.Errorf("half of %d bytes allocates %d, and all of them %d", size, half.allocated, whole.allocated)
			}
		})
	}
}

// TestHostileFiles loads small files that lie, and some at the limits.
func TestHostileFiles(t *testing.T) {
	one := firstHash([]byte("1")).String()
	after := func(extends string) string {
		return hostileFile(hostileTurn("", "1"), hostileTurn(extends, "2"), hostileTurn("", "3"))
	}
	tool := func(members string) string { return hostileFile(`{"kind":"tool"}`, `{"kind":"tool",`+members+`}`) }
	nested := func(before string, n int, after string) string {
		return hostileFile(before + strings.Repeat("[", n) + strings.Repeat("]", n) + after)
	}
	const head = `{"format":"mixtape/1","interactions":`
	for _, test := range []struct {
		reason, name, text, want string
	}{
		{"a body as deep as allowed", "a.json", nested(`{"kind":"http","request":{"body":{"json":`, 995, "}}}"), ""},
		{"a body that is too deep by one", "a.json", nested(`{"kind":"http","request":{"body":{"json":`, 996, "}}}"), "nested deeper than 1000"},
		{"an unknown member as deep as allowed", "a.json", nested(`{"kind":"tool","later":`, 997, "}"), ""},
		{"an unknown member that is too deep by one", "a.json", nested(`{"kind":"tool","later":`, 998, "}"), "nested deeper than 1000"},
		{"a line as deep as allowed", "a.jsonl", head + "1}\n" + `{"kind":"tool","later":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + "}", ""},
		{"a line that is too deep by one", "a.jsonl", head + "1}\n" + `{"kind":"tool","later":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", "nested deeper than 1000"},

		{"it goes on from one before", "a.json", after(hostileExtends(1, 1, one)), ""},
		{"it goes on from itself", "a.json", after(hostileExtends(0, 1, one)), "must have member, back, items and hash"},
		{"it goes on from a later one", "a.json", after(hostileExtends(-1, 1, one)), "back must be a whole number"},
		{"it goes on from far before the beginning", "a.json", after(hostileExtends(2147483647, 1, one)), "goes 2147483647 interactions back, and only 1 stand before"},
		{"it goes on from farther still", "a.json", after(hostileExtends(2147483648, 1, one)), "back must be a whole number"},
		{"it goes on from infinity", "a.json", after(hostileExtends("1e999", 1, one)), "back must be a whole number"},
		{"no elements", "a.json", after(hostileExtends(1, 0, one)), "must have member, back, items and hash"},
		{"an element more than there are", "a.json", after(hostileExtends(1, 2, one)), "first 2 elements of interaction 1, which has 1"},
		{"two thousand million elements", "a.json", after(hostileExtends(1, 2147483647, one)), "first 2147483647 elements of interaction 1, which has 1"},
		{"more elements than a number holds", "a.json", after(hostileExtends(1, "99999999999999999999", one)), "items must be a whole number"},
		{"another hash", "a.json", after(hostileExtends(1, 1, "00000000")), "whose first 1 elements have changed"},
		{"a hash of a megabyte", "a.json", after(hostileExtends(1, 1, strings.Repeat("é", 1<<20))), "whose first 1 elements have changed"},
		{"a list of a long name", "a.json", after(strings.Replace(hostileExtends(1, 1, one), "messages", strings.Repeat(`\u0007`, 1<<20), 1)), "which has no list"},

		{"back to the first", "a.json", tool(`"back":1`), ""},
		{"back before the first", "a.json", tool(`"back":2`), "back is 2, and only 1 interactions stand before"},
		{"back too far for a number", "a.json", tool(`"attempt":1,"back":2147483648`), "back must be a whole number from 0 to 2147483647"},
		{"within the first", "a.json", tool(`"within":1`), ""},
		{"within what is before the first", "a.json", tool(`"within":2`), "within is 2, and only 1 interactions stand before"},
		{"within what is too far for a number", "a.json", tool(`"within":2147483648`), "within must be a whole number"},
		{"the most attempts", "a.json", tool(`"attempt":2147483647`), ""},
		{"an attempt too many", "a.json", tool(`"attempt":2147483648`), "attempt must be a whole number"},
		{"the longest time", "a.json", tool(`"start_ms":9223372036854,"duration_ms":9223372036854`), ""},
		{"a longer time", "a.json", tool(`"start_ms":9223372036855`), "start_ms must be a whole number"},
		{"the largest status", "a.json", hostileFile(`{"kind":"http","response":{"status":9999}}`), ""},
		{"a larger status", "a.json", hostileFile(`{"kind":"http","response":{"status":10000}}`), "from 0 to 9999"},
		{"a status of 0", "a.json", hostileFile(`{"kind":"http","response":{"status":0}}`), "response.status must be a number from 1"},
		{"the largest length", "a.json", hostileFile(hostileBody(`"text":"","wire_length":2147483647`)), ""},
		{"a larger length", "a.json", hostileFile(hostileBody(`"text":"","wire_length":2147483648`)), "wire_length must be a whole number"},
		{"a negative length", "a.json", hostileFile(hostileBody(`"text":"","wire_length":-1`)), "wire_length must be a whole number"},
		{"a negative cut", "a.json", hostileFile(hostileStream(`"text":"a","times":[0,0],"cuts":[2,-1]`)), "cuts must be a whole number"},
		{"a cut in another spelling", "a.json", hostileFile(hostileStream(`"text":"a","times":[0],"cuts":[1e9]`)), "cuts must be a whole number"},
		{"a negative time", "a.json", hostileFile(hostileStream(`"text":"a","times":[-1],"cuts":[1]`)), "times must be a whole number"},
		{"cuts that do not add up", "a.json", hostileFile(hostileStream(`"text":"a","times":[0,1],"cuts":[2147483647,2147483647]`)), ""},

		{"two members of the file", "a.json", `{"format":"mixtape/1","interactions":[],"interactions":[]}`, `two members "interactions"`},
		{"two members of an interaction", "a.json", tool(`"a":1,"a":1`), `two members "a"`},
		{"two members that differ in spelling", "a.json", tool(`"name":"a","n\u0061me":"b"`), `two members "name"`},
		{"two members of a body", "a.json", hostileFile(hostileBody(`"json":1,"json":2`)), `two members "json"`},
		{"two members in a body's JSON", "a.json", hostileFile(hostileBody(`"json":{"a":1,"a":2}`)), ""},
		{"two members of a long name", "a.json", tool(hostileList(2, always(`"`+strings.Repeat(`\u001b`, 1<<20)+`":1`))), "two members"},
		{"a kind of a long name", "a.json", hostileFile(`{"kind":"` + strings.Repeat(`\n`, 1<<20) + `"}`), "unknown interaction kind"},
		{"base64 of a bad length", "a.json", hostileFile(hostileBody(`"base64":"QUJDR"`)), "is not base64"},
		{"base64 of another alphabet", "a.json", hostileFile(hostileBody(`"base64":"QU-_"`)), "is not base64"},
		{"base64 without its end", "a.json", hostileFile(hostileBody(`"base64":"QQ"`)), "is not base64"},
		{"base64 of a tool", "a.json", tool(`"name":"` + strings.Repeat(`\u001b`, 1000) + `","arguments_base64":"a!"`), "is not base64"},
		{"a layout of a tool", "a.json", tool(`"name":"` + strings.Repeat(`\u001b`, 1000) + `","result_layout":"wide"`), "none that this version knows"},
		{"blobs of a tool", "a.json", tool(`"name":"` + strings.Repeat(`\u001b`, 1000) + `","result_blobs":["..\/x"]`), "must be 64 hexadecimal digits"},
		{"two results of a tool", "a.json", tool(`"name":"` + strings.Repeat(`\u001b`, 1000) + `","result":1,"result_text":""`), "stands in two forms"},
		{"a long URL that is none", "a.json", hostileFile(hostileHTTP(`"method":"GET","url":"http://a b/`+strings.Repeat("a", 1<<20)+`"`, "")), "interaction 1"},
		{"a layout that makes a hundred megabytes of spaces", "a.json", hostileFile(hostileBody(`"layout":"indent 8","json":` + strings.Repeat("[", 990) + hostileList(12500, always("1")) + strings.Repeat("]", 990))), "the layout indent 8"},
		{"an unknown blob", "a.json", hostileFile(hostileBody(`"blob":"` + strings.Repeat("a", 64) + `"`)), "there is no blob"},

		{"a count that is too small", "a.jsonl", head + "1}\n" + strings.Repeat(`{"kind":"tool"}`+"\n", 2), "has 2 interactions and its first line says 1"},
		{"a count of a thousand million", "a.jsonl", head + "1000000000}\n" + `{"kind":"tool"}`, "has 1 interactions and its first line says 1000000000"},
		{"a count that no number holds", "a.jsonl", head + "1e999}\n", "interactions must be a whole number"},
		{"a list for a count", "a.jsonl", head + "[]}\n", "interactions must be a whole number"},
		{"bytes of 0", "a.json", strings.Repeat("\x00", 1<<20), "no JSON value begins like this"},
		{"a byte of 0 in a string", "a.json", tool("\"name\":\"\x00\""), "a control character in a string"},
		{"bytes of 0 after the end", "a.json", hostileFile() + "\x00\x00", "text after the value"},
		{"invalid UTF-8", "a.json", tool("\"name\":\"a\xC0\x80\""), "invalid UTF-8"},
		{"invalid UTF-8 outside of strings", "a.json", "\xFF" + hostileFile(), "no JSON value begins like this"},
		{"UTF-16", "a.json", "\xFF\xFE{\x00\"\x00f\x00\"\x00", "no JSON value begins like this"},
		{"UTF-16 of the other order, without a mark", "a.json", "\x00{\x00\"\x00f\x00\"", "no JSON value begins like this"},
		{"a mark of UTF-8 twice", "a.json", "\uFEFF\uFEFF" + hostileFile(), "no JSON value begins like this"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			data := []byte(test.text)
			c := costOf(func() *tape {
				tape, err := loadHostile(test.name, data)
				checkHostileError(t, err, test.want)
				return tape
			})
			if limit := 10*len(data) + hostileSlack; c.allocated > limit {
				t.Errorf("%d bytes allocate %d, the most is %d", len(data), c.allocated, limit)
			}
			runtime.KeepAlive(data)
		})
	}
}

// TestHostileCuts cuts a file of all kinds anywhere.
func TestHostileCuts(t *testing.T) {
	turns, _ := hostileChain(3)
	f, err := decodeFile("a.json", []byte(hostileFile(append(turns,
		hostileHTTP(`"method":"POST","url":"http://a/b","headers":{"A":["1","2"]},"body":{"base64":"/w==","encoding":"gzip","wire_length":9},"later":[]`,
			`,"headers":{"A":"1"},"stream":{"framing":"sse","events":[{"event":"a","data":{"b":1}},{"text":"é\n\u0041"}],"times":[1,2],"cuts":[20,19]},"trailers":{"B":"2"}`),
		`{"kind":"tool","name":"a","id":"1","arguments":{"a":[1,2]},"failure":{"text":"no","timeout":true,"chain":[{"type":"x","text":"y"}]},"ending":"error","start_ms":1}`,
		`{"kind":"func","name":"f","request":"a","result_text":"b","within":1}`)...)))
	if err != nil {
		t.Fatal(err)
	}
	bothForms(t, func(t *testing.T, name string) {
		text := []byte(strings.TrimRight(string(f.Encode(name)), "\n"))
		for n := 0; n < len(text); n += 1 + len(text)/400 {
			_, err := loadHostile(name, text[:n])
			if err == nil {
				t.Fatalf("cut at %d of %d it loads", n, len(text))
			}
			checkHostileError(t, err, "; ")
		}
	})
}

// TestHostilePlaceholders compares a live request with recorded ones that are full of placeholders, each of which stands
// for the 64th text that is tried for it. To go back and try others would take 64 to the power of their number.
func TestHostilePlaceholders(t *testing.T) {
	const tried = 64
	r, err := redact.New(redact.Default()...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newComparer(&settings{}, r)
	if err != nil {
		t.Fatal(err)
	}
	hidden := strings.Repeat("-", tried)
	mark := "<email:" + redact.WholeFingerprint([]byte(hidden))[:4] + ">"
	body := func(item string, n int, end string) *match.Request {
		return &match.Request{Kind: "http", Body: []byte(`"` + strings.Repeat(item, n) + end + `"`)}
	}
	for _, test := range []struct {
		reason, end string
		want        bool
	}{
		{"all fit", "", true},
		{"all but what follows the last", "!", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			compare := func(n int) cost {
				live, stored := body(hidden+"-", n, ""), body(mark+"-", n, test.end)
				return costOf(func() bool {
					if got := c.matcher.Relaxed(live, stored); got != test.want {
						t.Errorf("with %d placeholders they are the same: %v, want %v", n, got, test.want)
					}
					return true
				})
			}
			once, twice := compare(5000), compare(10000)
			if twice.allocated > 5*once.allocated/2+hostileSlack {
				t.Errorf("5000 placeholders allocate %d, and 10000 %d", once.allocated, twice.allocated)
			}
		})
	}
}

// TestHostileMiss asks for what is not recorded in files of many recordings that are like it, of which a few only are
// read in full.
func TestHostileMiss(t *testing.T) {
	miss := func(n int) cost {
		data := []byte(hostileFile(hostileList(n, func(i int) string {
			return `{"kind":"tool","name":"t","arguments":[` + hostileList(50, always(fmt.Sprintf(`"<email:aaaa>%d"`, i))) + `]}`
		})))
		tape, err := loadHostile("a.json", data)
		if err != nil {
			t.Fatal(err)
		}
		live := &match.Request{Kind: "tool", Operation: "t", Body: []byte(`[` + hostileList(50, always(`"a@b.io"`)) + `]`)}
		return costOf(func() int {
			if _, _, ok := tape.take(live, tape.matcher.Key(live), "call"); ok {
				t.Error("it was answered")
			}
			i, ok := tape.nearest(live)
			if !ok {
				t.Error("nothing is like it")
			}
			return i
		})
	}
	few, many := miss(500), miss(5000)
	if many.allocated > 5*few.allocated/4+hostileSlack/4 {
		t.Errorf("among 500 recordings a miss allocates %d, among 5000 %d", few.allocated, many.allocated)
	}
}
