package cassette_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// leak is a secret and the text in which it stands. They are put together here, so that scanners do not take this file
// for a leak.
type leak struct{ shape, text, secret string }

func leaks() []leak {
	const (
		mixed = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ2cF4hJ6kL8nP0r"
		hex   = "0123456789abcdef0123456789abcdef"
	)
	whole := func(shape, secret string) leak { return leak{shape, secret, secret} }
	return []leak{
		whole("OpenAI", "sk-"+"proj-"+mixed),
		whole("Anthropic", "sk-"+"ant-api03-"+mixed),
		whole("Google", "AI"+"za"+mixed[:35]),
		whole("AWS key id", "AKIA"+"J7Q2XN4LPT5WZKRM"),
		{"AWS secret", "aws_secret_access_key=" + mixed[:20] + "/" + mixed[20:39], mixed[:20] + "/" + mixed[20:39]},
		{"Azure", "AccountKey=" + mixed + mixed + "abcdef==;", mixed + mixed + "abcdef=="},
		whole("GitHub", "ghp"+"_"+mixed[:36]),
		whole("GitLab", "glpat"+"-"+mixed[:20]),
		whole("Slack", "xoxb"+"-123456789012-"+mixed[:12]),
		whole("Stripe", "sk"+"_live_"+mixed[:24]),
		whole("Twilio", "SK"+hex),
		whole("Hugging Face", "hf"+"_"+mixed[:34]),
		whole("npm", "npm"+"_"+mixed[:36]),
		whole("PyPI", "pypi"+"-AgEIcHlwaS5vcmc"+mixed+mixed),
		whole("Groq", "gsk"+"_"+mixed+mixed[:12]),
		whole("JWT", "eyJ"+"hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
		{"bearer", "Bearer " + mixed, mixed},
		whole("private key", "-----BEGIN PRIVATE"+" KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC"+mixed+"\n-----END PRIVATE"+" KEY-----"),
		{"database URL", "postgres://app:hunter2Xq9@db.bigcorp.io:5432/x", "hunter2Xq9"},
		whole("e-mail", "jane.doe+billing@mail.bigcorp.co.uk"),
		whole("phone", "+1 (415) 555-2671"),
		whole("card", "4539 5787 6362 1486"),
	}
}

// place is one place of a call in which a secret may stand.
type place struct {
	name string
	call func(p *program, text string)
}

// program makes calls whose texts hold a secret, and notes what it and the other side see.
type program struct {
	ctx    context.Context
	client *http.Client
	opts   []core.Option
	answer func(*http.Request) (*http.Response, error) // to the call under way
	seen   []string                                    // by either side
}

func (p *program) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	p.see("server", req.URL.String(), req.Header.Get("X-Note"), string(body))
	return p.answer(req)
}

func (p *program) see(what ...string) { p.seen = append(p.seen, strings.Join(what, "|")) }

// send makes one call.
func (p *program) send(method, rawURL, contentType, body string, answer func(*http.Request) (*http.Response, error)) {
	p.answer = answer
	req, err := http.NewRequestWithContext(p.ctx, method, rawURL, strings.NewReader(body))
	if err != nil {
		p.see("no request", err.Error())
		return
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := p.client.Do(req)
	if err != nil {
		p.see("error", err.Error())
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	p.see("client", strconv.Itoa(resp.StatusCode), fmt.Sprint(resp.Header), string(b), fmt.Sprint(err))
}

const completions = provider + "/v1/chat/completions"

// chat sends a prompt, so that each call is another.
func (p *program) chat(prompt string, stream bool, contentType, answer string, headers ...string) {
	p.send("POST", completions, "application/json", fmt.Sprintf(`{"model":"gpt-5","stream":%t,"messages":[{"role":"user","content":%s}]}`, stream, quote(prompt)),
		func(*http.Request) (*http.Response, error) {
			resp := response(200, contentType, answer)
			for i := 0; i < len(headers); i += 2 {
				resp.Header.Set(headers[i], headers[i+1])
			}
			return resp, nil
		})
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

// escaped returns a JSON string with each character of s in a \u escape.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return `"` + b.String() + `"`
}

// tokens cuts text as models do.
func tokens(text string) (list []string) {
	for len(text) > 0 {
		n := min(3, len(text))
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}

// eventsOf makes an event of each token; PIECE stands for it, and BYTES for the list of its bytes.
func eventsOf(text, format, last string) string {
	var b strings.Builder
	for _, token := range tokens(text) {
		numbers, _ := json.Marshal(slices.Collect(func(yield func(int) bool) {
			for i := range len(token) {
				yield(int(token[i]))
			}
		}))
		fmt.Fprintf(&b, "data: %s\n\n", strings.NewReplacer("PIECE", quote(token), "BYTES", string(numbers)).Replace(format))
	}
	return b.String() + last
}

// places are all places. An answer of the text "ok" is never looked at.
func places() []place {
	ok := func(*http.Request) (*http.Response, error) { return response(200, "text/plain", "ok"), nil }
	stream := func(name, format, last string) place {
		return place{"a stream: " + name, func(p *program, text string) {
			p.chat(name, true, "text/event-stream", eventsOf("so: "+text+" \"yes\"", format, last))
		}}
	}
	return []place{
		{"a prompt", func(p *program, text string) { p.chat("my key: "+text, false, "application/json", completion("ok")) }},
		{"an answer", func(p *program, text string) { p.chat("answer", false, "application/json", completion("so: "+text)) }},
		{"an answer in escapes", func(p *program, text string) {
			p.chat("escapes", false, "application/json", `{"choices":[{"message":{"content":`+escaped(text)+`}}]}`)
		}},
		{"tool arguments: JSON in a string", func(p *program, text string) {
			p.chat("arguments", false, "application/json", `{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"name":"f","arguments":`+quote(`{"a":`+quote(text)+`}`)+`}}]}}]}`)
		}},
		{"the name of a member", func(p *program, text string) {
			p.chat("member", false, "application/json", `{"choices":[],`+quote(text)+`:1}`)
		}},
		{"an answer that is text", func(p *program, text string) { p.chat("text", false, "text/plain", "so: "+text+"!") }},
		{"an answer that is no UTF-8", func(p *program, text string) { p.chat("latin", false, "text/plain", "caf\xe9 "+text+" \xff") }},
		{"a gzip'd answer", func(p *program, text string) {
			p.chat("gzip", false, "application/json", string(gzipped(completion(text))), "Content-Encoding", "gzip")
		}},
		{"JSON that was cut", func(p *program, text string) {
			p.chat("cut", false, "application/json", `{"choices":[{"message":{"content":`+strings.TrimSuffix(quote("so: "+text+" "), `"`))
		}},
		{"an error of the provider", func(p *program, text string) {
			p.send("POST", completions, "application/json", `{"model":"gpt-5","messages":[{"role":"user","content":"fail"}]}`, func(*http.Request) (*http.Response, error) {
				return response(400, "application/json", `{"error":{"message":`+quote("bad key "+text)+`}}`), nil
			})
		}},
		{"an error of the transport", func(p *program, text string) {
			p.send("POST", completions, "application/json", `{"model":"gpt-5","messages":[{"role":"user","content":"reset"}]}`, func(*http.Request) (*http.Response, error) {
				return nil, fmt.Errorf("proxy said: %w", errors.New(text))
			})
		}},
		{"a header that is kept", func(p *program, text string) {
			p.chat("header", false, "text/plain", "ok", "X-Request-Id", strings.ReplaceAll(text, "\n", " "), "X-Other", text)
		}},
		{"a redirect's place", func(p *program, text string) {
			p.chat("location", false, "text/plain", "ok", "Location", "https://x.io/?a="+url.QueryEscape(text))
		}},
		{"a query", func(p *program, text string) {
			p.send("GET", "https://tools.bigcorp.io/find?q="+url.QueryEscape("is "+text), "text/plain", "", ok)
		}},
		{"a path", func(p *program, text string) {
			p.send("GET", "https://tools.bigcorp.io/users/"+url.PathEscape(text), "text/plain", "", ok)
		}},
		{"a form", func(p *program, text string) {
			p.send("POST", "https://tools.bigcorp.io/form", "application/x-www-form-urlencoded", "a=1&note="+url.QueryEscape(text), ok)
		}},
		{"a part of a form", func(p *program, text string) {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			_ = w.SetBoundary("a-boundary-of-this-test")
			_ = w.WriteField("note", text)
			_ = w.WriteField("picture", "\x89PNG\xff\x00")
			_ = w.Close()
			p.send("POST", "https://tools.bigcorp.io/parts", w.FormDataContentType(), b.String(), ok)
		}},
		{"JSON lines", func(p *program, text string) {
			p.send("POST", "https://tools.bigcorp.io/lines", "application/x-ndjson", `{"a":1}`+"\n"+`{"a":`+quote(text)+"}\n", ok)
		}},
		stream("chat text", `{"choices":[{"index":0,"delta":{"content":PIECE}}]}`, "data: [DONE]\n\n"),
		stream("chat reasoning", `{"choices":[{"index":0,"delta":{"reasoning_content":PIECE}}]}`, "data: [DONE]\n\n"),
		stream("chat refusal", `{"choices":[{"index":0,"delta":{"refusal":PIECE}}]}`, "data: [DONE]\n\n"),
		stream("chat arguments", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":PIECE}}]}}]}`, "data: [DONE]\n\n"),
		stream("chat with logprobs", `{"choices":[{"index":0,"delta":{"content":PIECE},"logprobs":{"content":[{"token":PIECE,"logprob":-0.5,"bytes":BYTES,"top_logprobs":[{"token":PIECE,"bytes":BYTES}]}]}}]}`, "data: [DONE]\n\n"),
		stream("a chat that broke off", `{"choices":[{"index":0,"delta":{"content":PIECE}}]}`, `data: {"choices":[{"index":0,"del`),
		{"a stream: Anthropic", func(p *program, text string) {
			block := func(index int, kind, member string) string {
				return eventsOf("so: "+text+" ", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:PIECE}}`, index, kind, member), "")
			}
			p.send("POST", "https://api.anthropic.com/v1/messages", "application/json", `{"model":"claude","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"x"}]}`,
				func(*http.Request) (*http.Response, error) {
					return response(200, "text/event-stream", block(0, "thinking_delta", "thinking")+block(1, "text_delta", "text")+block(2, "input_json_delta", "partial_json")), nil
				})
		}},
		{"a stream: responses", func(p *program, text string) {
			p.send("POST", provider+"/v1/responses", "application/json", `{"model":"gpt-5","stream":true,"input":"x"}`, func(*http.Request) (*http.Response, error) {
				return response(200, "text/event-stream", eventsOf("so: "+text+" ", `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":PIECE}`, "")+
					eventsOf("so: "+text+" ", `{"type":"response.reasoning_summary_text.delta","item_id":"r","output_index":1,"summary_index":0,"delta":PIECE}`, "")), nil
			})
		}},
		{"a stream of no known format", func(p *program, text string) {
			p.send("GET", "https://tools.bigcorp.io/events", "text/plain", "", func(*http.Request) (*http.Response, error) {
				return response(200, "text/event-stream", eventsOf("so: "+text+" ", `{"model":"m","parts":[{"text":PIECE}]}`, ": "+strings.ReplaceAll(text, "\n", " ")+"\n\n")), nil
			})
		}},
		{"a stream of lines", func(p *program, text string) {
			p.send("GET", "https://tools.bigcorp.io/ndjson", "text/plain", "", func(*http.Request) (*http.Response, error) {
				lines := strings.ReplaceAll(strings.ReplaceAll(eventsOf("so: "+text+" ", `{"message":{"content":PIECE},"done":false}`, ""), "data: ", ""), "\n\n", "\n")
				return response(200, "application/x-ndjson", lines), nil
			})
		}},
		{"a tool", func(p *program, text string) {
			tool := core.Tool("look", func(_ context.Context, in map[string]string) (map[string]string, error) {
				p.see("tool", in["q"])
				return map[string]string{"found": text}, nil
			}, p.opts...)
			out, err := tool(p.ctx, map[string]string{"q": "where is " + text})
			p.see("agent", out["found"], fmt.Sprint(err))
		}},
		{"a tool's error", func(p *program, text string) {
			tool := core.Tool("fail", func(context.Context, int) (int, error) { return 0, fmt.Errorf("no access: %w", errors.New(text)) }, p.opts...)
			_, err := tool(p.ctx, 1)
			p.see("agent", fmt.Sprint(err))
		}},
		{"a call of another kind", func(p *program, text string) {
			got, err := core.Call(p.ctx, "retrieve", map[string]string{"q": text}, func(context.Context) ([]string, error) { return []string{"a", text}, nil }, p.opts...)
			p.see("agent", fmt.Sprint(got, err))
		}},
	}
}

// views returns what b says to somebody who reads it with some wit: as it stands, unescaped, decoded, and with the pieces
// of streams put together.
func views(b []byte) (all []string) {
	joined := map[string]string{}
	add := func(s string) {
		all = append(all, s)
		if plain, err := url.QueryUnescape(s); err == nil {
			all = append(all, plain)
		}
	}
	var walk func(path string, v any)
	text := func(path, s string) {
		add(s)
		joined[path] += s
		if plain, err := base64.StdEncoding.DecodeString(s); err == nil && len(plain) > 8 {
			all = append(all, string(plain))
		}
		var inner any
		if json.Unmarshal([]byte(s), &inner) == nil {
			walk(path, inner)
		}
	}
	walk = func(path string, v any) {
		switch v := v.(type) {
		case string:
			text(path, v)
		case []any:
			for _, x := range v {
				walk(path, x)
			}
			var numbers []byte
			for _, x := range v {
				if n, ok := x.(float64); ok && n >= 0 && n < 256 {
					numbers = append(numbers, byte(n))
				}
			}
			text(path+".bytes", string(numbers))
		case map[string]any:
			for name, x := range v {
				add(name)
				walk(path+"."+name, x)
			}
		}
	}
	add(string(b))
	for line := range bytes.SplitSeq(b, []byte{'\n'}) {
		var v any
		if json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), &v) == nil {
			walk("", v)
		}
	}
	var v any
	if json.Unmarshal(b, &v) == nil {
		walk("", v)
	}
	for _, s := range joined {
		add(s)
	}
	return all
}

func wantHidden(t *testing.T, where string, b []byte, secret string) {
	t.Helper()
	for _, view := range views(b) {
		if strings.Contains(view, secret) {
			t.Errorf("%s shows the secret: %q", where, view[max(0, strings.Index(view, secret)-40):])
			return
		}
	}
}

// wantClean looks for the secret in each interaction of a cassette, in what each of its parts holds when decoded.
func wantClean(t *testing.T, path, secret string, names func(i int) string) {
	t.Helper()
	f, err := cassette.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range f.Interactions() {
		parts := map[string][]byte{}
		if in.Func != nil {
			parts["arguments"], parts["result"] = in.Func.Arguments, in.Func.Result
		}
		if h := in.HTTP; h != nil {
			parts["URL"], parts["request"], parts["answer"] = []byte(h.URL), h.Request.Bytes, h.Response.Bytes
			parts["headers"] = fmt.Append(nil, h.RequestHeader, h.ResponseHeader, h.Trailer)
		}
		if in.Failure != nil {
			parts["failure"] = fmt.Append(nil, in.Failure.Text, in.Failure.Chain)
		}
		for name, b := range parts {
			wantHidden(t, fmt.Sprintf("%s, in the %s of interaction %d", names(i), name, i+1), b, secret)
		}
	}
}

// TestFault42And44And108And120NoSecretLeaves records each shape in each place, and looks for it in every file, log line
// and error that recording, replaying, missing, failing and extending leave. What the program and the server see is what
// they see without Mixtape.
func TestFault42And44And108And120NoSecretLeaves(t *testing.T) {
	all := places()
	for _, l := range leaks() {
		t.Run(l.shape, func(t *testing.T) {
			dir := t.TempDir()
			run := func(f *fakeT, prompt string, opts ...cassette.Option) *program {
				p := &program{ctx: t.Context(), client: &http.Client{}}
				p.client.Transport = p
				if f != nil {
					s := cassette.Use(f, "leak.json", append(opts, cassette.Dir(dir))...)
					p.ctx, p.client = s.Context(t.Context()), core.Instrument(p.client)
				}
				p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
				for _, place := range all {
					place.call(p, l.text)
				}
				if prompt != "" {
					p.chat(prompt, false, "application/json", completion("ok"))
				}
				return p
			}
			check := func(f *fakeT, names ...string) {
				t.Helper()
				for name, text := range contents(t, dir) {
					wantHidden(t, name, []byte(text), l.secret)
				}
				wantHidden(t, f.name+"'s errors", []byte(f.errorText()), l.secret)
				wantHidden(t, f.name+"'s log", []byte(f.logText()), l.secret)
				for _, name := range names {
					wantClean(t, filepath.Join(dir, name), l.secret, func(i int) string {
						if i < len(all) {
							return all[i].name
						}
						return "one more"
					})
				}
			}
			bare := run(nil, "")

			f := newT(t, "TestRecords")
			recorded := run(f, "", cassette.Record)
			f.end().wantPass()
			check(f, "leak.json")
			if len(recorded.seen) != len(bare.seen) {
				t.Fatalf("recording, %d things are seen; without, %d", len(recorded.seen), len(bare.seen))
			}
			for i := range bare.seen {
				if recorded.seen[i] != bare.seen[i] {
					t.Errorf("recording, the program sees\n%q\nwithout\n%q", recorded.seen[i], bare.seen[i])
				}
			}

			f = newT(t, "TestReplays")
			run(f, "", cassette.Replay)
			f.end().wantPass()
			check(f)

			f = newT(t, "TestMisses")
			run(f, "and "+l.text+" too", cassette.Replay)
			if f.end(); !f.Failed() {
				t.Error("the miss failed nothing")
			}
			check(f)

			f = newT(t, "TestFails")
			run(f, "", cassette.Record)
			f.fail()
			check(f.end(), "leak.failed.json")

			f = newT(t, "TestExtends")
			run(f, "and "+l.text+" too", cassette.Extend)
			f.end().wantPass()
			check(f, "leak.json")
		})
	}
}
