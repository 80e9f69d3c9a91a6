package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Answer is what the model says to one request.
type Answer struct {
	// Text is the answer. A stream sends it in pieces of a few bytes.
	Text string
	// Tools are the tools that the model asks for.
	Tools []ToolCall
	// Status is the HTTP status; 0 means 200. From 400 on, Text is the error's message.
	Status int
	Header http.Header
	// Gate, if not nil, holds a stream after its first event, and a plain answer before its first byte, until it is closed or
	// the client is gone.
	Gate <-chan struct{}
	// Cut breaks the connection in the middle of the answer: after the first event of a stream.
	Cut bool
	// Drop breaks the connection before the answer.
	Drop bool
}

// ToolCall is a tool that the model asks for.
type ToolCall struct {
	ID, Name  string
	Arguments string // a JSON object
}

// Tokens that every answer reports as used.
const (
	InputTokens  = 11
	OutputTokens = 7
)

// Request is a request that the server has seen.
type Request struct {
	N        int    // 0, 1, … in the order of arrival
	Format   string // "openai.chat", "anthropic.messages", …
	Model    string
	Streamed bool
	Method   string
	Path     string
	Header   http.Header
	Body     []byte
}

// Script answers with the given answers in turn, and with the last one from then on.
func Script(answers ...Answer) func(Request) Answer {
	return func(r Request) Answer { return answers[min(r.N, len(answers)-1)] }
}

// Server is a running model server. Its methods may be called concurrently.
type Server struct {
	// URL is the address, without a path: "http://127.0.0.1:34567".
	URL string

	answer func(Request) Answer
	http   http.Server

	mu       sync.Mutex
	requests []Request
}

// New starts a server on a free local port. It calls answer, concurrently, for each request in a format that it knows;
// what else comes gets 404. Close ends it.
func New(answer func(Request) Answer) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("modelserver: %w", err)
	}
	s := &Server{URL: "http://" + l.Addr().String(), answer: answer}
	s.http.Handler = s
	go s.http.Serve(l)
	return s, nil
}

// Close ends the server and its connections.
func (s *Server) Close() error { return s.http.Close() }

// Requests returns the requests seen so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body}
	f := detect(&req)
	if f == nil {
		http.Error(w, "modelserver: no known format: "+r.Method+" "+r.URL.Path, http.StatusNotFound)
		return
	}
	s.mu.Lock()
	req.N = len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()

	a := s.answer(req)
	if a.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if a.Status >= 400 {
		a.plain(w, r, f.failure(a))
		return
	}
	if req.Streamed {
		a.stream(w, r, f.contentType, f.events(a, req.Model))
		return
	}
	a.plain(w, r, f.plain(a, req.Model))
}

func (a Answer) plain(w http.ResponseWriter, r *http.Request, v any) {
	b := encode(v)
	a.wait(r)
	w.Header().Set("Content-Type", "application/json")
	if a.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		b = b[:len(b)/2]
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	w.Write(b)
	if a.Cut {
		flush(w)
		panic(http.ErrAbortHandler)
	}
}

func (a Answer) stream(w http.ResponseWriter, r *http.Request, contentType string, events [][]byte) {
	w.Header().Set("Content-Type", contentType)
	for i, e := range events {
		w.Write(e)
		flush(w)
		if i > 0 {
			continue
		}
		a.wait(r)
		if a.Cut {
			panic(http.ErrAbortHandler)
		}
	}
}

func (a Answer) wait(r *http.Request) {
	if a.Gate == nil {
		return
	}
	select {
	case <-a.Gate:
	case <-r.Context().Done():
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// object is a JSON object.
type object = map[string]any

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the Arguments of a ToolCall are no JSON
	}
	return b
}

// pieces cuts s into pieces of n bytes. Texts are ASCII.
func pieces(s string) []string {
	var all []string
	for p := range slices.Chunk([]byte(s), 4) {
		all = append(all, string(p))
	}
	return all
}
