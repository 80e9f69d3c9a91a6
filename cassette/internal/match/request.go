package match

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Request is what matching knows of a call's request, redacted. Everything in it is compared, but for what the fields'
// comments leave out.
type Request struct {
	// Kind is bus.Kind of the call.
	Kind string
	// Provider, Format, Operation and Model describe an LLM call; for tools and functions Operation is the name.
	Provider, Format, Operation, Model string
	// Streamed says that the request asks for a stream, wherever its format says so.
	Streamed bool
	Method   string
	// Host, with its port, and Path, escaped as in the URL, are compared only when Format is empty. All loopback
	// addresses are one host, whatever the port.
	Host, Path string
	// Query is the URL's raw query. Its parameters are compared by name; credentials are left out.
	Query string
	// ContentType tells how to read Body, and is not compared itself.
	ContentType string
	// Body is the body of an HTTP request, or a function's arguments in JSON.
	Body []byte
	// Layout is that of Format; nil when there is none.
	Layout *Layout
}

// where returns what is compared of the host and the path.
func (r *Request) where() (host, path string) {
	if r.Format != "" {
		return "", ""
	}
	host, path = canonicalHost(r.Host), r.Path
	if host != "" && path == "" {
		path = "/"
	}
	return host, path
}

// Layout says where the JSON bodies of one format keep what matching treats specially. It is safe for concurrent use.
type Layout struct {
	messages string
	ids      *jsonpath.Set
	inList   bool // ids stand in the message list only
}

// NewLayout returns a layout: messages is the name of the top-level member that holds the message list, empty when
// there is none; ids are the paths of strings that only tie a call to its result. It fails on a path that does not
// parse.
func NewLayout(messages string, ids ...string) (*Layout, error) {
	set, err := compile("id path", ids)
	if err != nil {
		return nil, err
	}
	list := string(jsonpath.AppendName([]byte("$"), []byte(messages))) + "[*]"
	outside := slices.ContainsFunc(ids, func(path string) bool { return !strings.HasPrefix(path, list) })
	return &Layout{messages: messages, ids: set, inList: messages != "" && !outside}, nil
}

func (l *Layout) isMessages(name []byte) bool {
	return l != nil && l.messages != "" && l.messages == string(name)
}

// systemNames are the top-level members in which the formats keep their system prompt, where it is not a message, and
// what went before, where the provider keeps it.
var systemNames = []string{
	"system", "instructions", "systemInstruction", "system_instruction", "preamble",
	"previous_response_id", "conversation", "prompt",
}

// isConversation reports whether the top-level member called name is compared under MessagesOnly.
func (l *Layout) isConversation(name []byte) bool {
	return l.isMessages(name) || slices.Contains(systemNames, string(name))
}

// loopback stands for every host that is this machine.
const loopback = "localhost"

// canonicalHost returns host in lower case, or loopback when host is one, with any port.
func canonicalHost(host string) string {
	host = strings.ToLower(host)
	name := host
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") && (strings.HasPrefix(name, "[") || strings.Count(name, ":") == 1) {
		name = name[:i]
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if name == loopback || strings.HasSuffix(name, "."+loopback) {
		return loopback
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsLoopback() {
		return loopback
	}
	return host
}
