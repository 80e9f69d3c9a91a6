package core

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

const (
	maxDepth = 10     // pointers, interfaces and slices between a client and its HTTP fields
	maxNodes = 20_000 // values looked at
	maxNotes = 20
)

var (
	typeError        = reflect.TypeFor[error]()
	typeClient       = reflect.TypeFor[http.Client]()
	typeClientPtr    = reflect.TypeFor[*http.Client]()
	typeRoundTripper = reflect.TypeFor[http.RoundTripper]()
	typeTransport    = reflect.TypeFor[*transport]()
	typeDoer         = reflect.TypeFor[httpDoer]()
	typeSeamDoer     = reflect.TypeFor[*doer]()
)

// httpDoer is the interface that SDKs declare to take an *http.Client or what looks like one.
type httpDoer interface {
	Do(*http.Request) (*http.Response, error)
}

// doer is an instrumented httpDoer that is no *http.Client.
type doer struct {
	base httpDoer
	cfg  *config
}

func (d *doer) Do(req *http.Request) (*http.Response, error) {
	return d.cfg.roundTrip(req, d.base.Do, via{})
}

// walk goes through all that a client holds. It works on copies throughout: each struct or slice that it meets is
// copied once, the HTTP fields in the copy are replaced, and at the end those pointers, interfaces and slices that lead
// to a replaced field are turned to the copies. The other copies are dropped, so that what was not on the way stays
// shared with the original.
type walk struct {
	config *config
	report Report
	nodes  map[nodeKey]*node
	seen   int
	leads  map[reflect.Type]bool
	turns  []turn
	layers []layer
	// option is how to make a per-call option, by the SDK's interface type of options.
	option map[reflect.Type]*perCallType
}

type nodeKey struct {
	t   reflect.Type
	p   unsafe.Pointer
	len int // of a slice
}

// node is something that was copied.
type node struct {
	copy    reflect.Value // what stands in the place of the original: a pointer, a slice, or a struct
	holders []*node       // whose copies have a way to it
	changed bool          // it leads to a replaced field
}

// turn is a place in a copy that is to be turned to another copy, if that has changed.
type turn struct {
	slot reflect.Value
	to   *node
}

func newWalk(c *config) *walk {
	return &walk{
		config: c,
		nodes:  map[nodeKey]*node{},
		leads:  map[reflect.Type]bool{},
		option: map[reflect.Type]*perCallType{},
	}
}

// run instruments client, an addressable copy of a client.
func (w *walk) run(client reflect.Value) {
	w.visit(client, &node{}, "client", 0)
	w.placeOptions()
	// Inner turns come before those of what holds them, so that a struct is whole when it is put into an interface.
	for _, t := range w.turns {
		if t.to.changed {
			t.slot.Set(t.to.copy)
		}
	}
}

// visit looks at slot, a place in the copy that owner stands for.
func (w *walk) visit(slot reflect.Value, owner *node, path string, depth int) {
	if !w.mayLead(slot.Type()) || !w.count(path, depth) {
		return
	}
	if slot.Type() == typeClient {
		w.bindTransport(slot.Addr().Interface().(*http.Client), owner, path)
		return
	}
	switch slot.Kind() {
	case reflect.Pointer:
		w.pointer(slot, slot, owner, path, depth)
	case reflect.Interface:
		w.iface(slot, owner, path, depth)
	case reflect.Slice:
		w.slice(slot, slot, owner, path, depth)
	case reflect.Struct:
		w.fields(slot, owner, path, depth)
	case reflect.Array:
		for i := range slot.Len() {
			w.visit(slot.Index(i), owner, fmt.Sprintf("%s[%d]", path, i), depth)
		}
	}
}

func (w *walk) count(path string, depth int) bool {
	w.seen++
	switch {
	case w.seen == maxNodes:
		w.note(path, fmt.Sprintf("the walk stopped here, after %d values", maxNodes))
	case depth > maxDepth:
		w.note(path, "too deep to be followed")
	}
	return w.seen < maxNodes && depth <= maxDepth
}

func (w *walk) fields(s reflect.Value, owner *node, path string, depth int) {
	for i := range s.NumField() {
		f := s.Field(i)
		if !w.mayLead(f.Type()) {
			continue
		}
		// The copy is ours to write: this lifts the write protection of unexported fields.
		slot := reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
		name := s.Type().Field(i).Name
		at := path + "." + name
		if name == "Options" && w.options(slot, owner, at) {
			continue
		}
		w.visit(slot, owner, at, depth)
	}
}

// pointer follows p, which stands in slot: the same value, or an interface that holds it.
func (w *walk) pointer(slot, p reflect.Value, owner *node, path string, depth int) {
	if p.IsNil() {
		if p.Type() == typeClientPtr {
			w.note(path, "nil")
		}
		return
	}
	key := nodeKey{t: p.Type(), p: p.UnsafePointer()}
	n, known := w.nodes[key]
	switch {
	case known && p.Type() == typeClientPtr:
		w.found(owner, path, false)
	case known:
	case p.Type() == typeClientPtr:
		n = &node{}
		w.nodes[key] = n
		c := *p.Interface().(*http.Client)
		w.bindTransport(&c, n, path)
		n.copy = reflect.ValueOf(&c)
	default:
		c, err := copyOf(p)
		n = &node{copy: c}
		w.nodes[key] = n
		if err != nil {
			w.note(path, err.Error())
			return
		}
		w.visit(c.Elem(), n, path, depth+1)
	}
	w.turn(slot, n, owner)
}

func (w *walk) slice(slot, s reflect.Value, owner *node, path string, depth int) {
	if s.Len() == 0 || !w.mayLead(s.Type().Elem()) {
		return
	}
	key := nodeKey{s.Type(), s.UnsafePointer(), s.Len()}
	n, known := w.nodes[key]
	if !known {
		n = &node{copy: reflect.MakeSlice(s.Type(), s.Len(), s.Len())}
		w.nodes[key] = n
		reflect.Copy(n.copy, s)
		for i := range s.Len() {
			w.visit(n.copy.Index(i), n, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
	w.turn(slot, n, owner)
}

func (w *walk) iface(slot reflect.Value, owner *node, path string, depth int) {
	t := slot.Type()
	isTransport := t.Implements(typeRoundTripper) && typeTransport.Implements(t)
	isDoer := t.Implements(typeDoer) && typeSeamDoer.Implements(t)
	if slot.IsNil() {
		if isTransport || isDoer {
			w.note(path, "nil")
		}
		return
	}
	v := slot.Elem()
	switch {
	case v.Type() == typeClientPtr:
		w.pointer(slot, v, owner, path, depth)
	case isTransport:
		if rt, changed := w.bind(slot.Interface().(http.RoundTripper)); w.found(owner, path, changed) {
			slot.Set(reflect.ValueOf(rt))
		}
	case isDoer:
		if d, changed := w.bindDoer(slot.Interface().(httpDoer)); w.found(owner, path, changed) {
			slot.Set(reflect.ValueOf(d))
		}
	case t.Implements(typeRetryer):
		w.retryer(slot, owner, path)
	case !w.mayLead(v.Type()):
	case v.Kind() == reflect.Pointer:
		w.pointer(slot, v, owner, path, depth)
	case v.Kind() == reflect.Slice:
		w.slice(slot, v, owner, path, depth)
	case v.Kind() == reflect.Struct, v.Kind() == reflect.Array:
		n := &node{copy: reflect.New(v.Type()).Elem()}
		n.copy.Set(v)
		w.visit(n.copy, n, path, depth+1)
		w.turn(slot, n, owner)
	}
}

// turn registers that slot, in the copy that owner stands for, leads to n.
func (w *walk) turn(slot reflect.Value, n, owner *node) {
	n.holders = append(n.holders, owner)
	w.turns = append(w.turns, turn{slot, n})
	if n.changed {
		owner.change()
	}
}

// change marks n and all that has a way to it.
func (n *node) change() {
	if n.changed {
		return
	}
	n.changed = true
	for _, h := range n.holders {
		h.change()
	}
}

// found says that calls pass at path, and returns changed.
func (w *walk) found(owner *node, path string, changed bool) bool {
	w.report.Paths = append(w.report.Paths, path)
	if w.report.Seam == SeamNone {
		w.report.Seam = SeamHTTP
	}
	if changed {
		owner.change()
	}
	return changed
}

func (w *walk) note(path, text string) {
	if len(w.report.Notes) < maxNotes {
		w.report.Notes = append(w.report.Notes, path+": "+text)
	}
}

func (w *walk) bindTransport(c *http.Client, owner *node, path string) {
	if rt, changed := w.bind(c.Transport); w.found(owner, path, changed) {
		c.Transport = rt
	}
}

func (w *walk) bind(rt http.RoundTripper) (http.RoundTripper, bool) {
	t, ok := rt.(*transport)
	if !ok {
		return &transport{base: rt, cfg: w.config}, true
	}
	cfg, changed := t.cfg.rebound(w.config)
	return &transport{base: t.base, cfg: cfg}, changed
}

func (w *walk) bindDoer(base httpDoer) (httpDoer, bool) {
	d, ok := base.(*doer)
	if !ok {
		return &doer{base: base, cfg: w.config}, true
	}
	cfg, changed := d.cfg.rebound(w.config)
	return &doer{base: d.base, cfg: cfg}, changed
}

// mayLead reports whether a value of type t could hold something to replace.
func (w *walk) mayLead(t reflect.Type) bool {
	if leads, ok := w.leads[t]; ok {
		return leads
	}
	w.leads[t] = true // for a type that contains itself, while it is looked at
	leads := w.findLead(t)
	w.leads[t] = leads
	return leads
}

func (w *walk) findLead(t reflect.Type) bool {
	switch {
	case t == typeClient || t == typeClientPtr || t == typeRoundTripper:
		return true
	case t == typeError || isStandard(t.PkgPath()) || isCredential(t):
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Struct && w.mayLead(t.Elem())
	case reflect.Slice, reflect.Array:
		return w.mayLead(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if w.mayLead(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// isCredential reports whether t is what SDKs authenticate with: its own HTTP traffic is no part of a client's calls.
func isCredential(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return slices.ContainsFunc([]string{"Credential", "TokenSource", "TokenProvider"}, func(s string) bool { return strings.Contains(t.Name(), s) })
	}
	path := strings.Split(t.PkgPath(), "/")
	return t.Name() == "Credentials" && slices.Contains(path, "auth")
}

// isStandard reports whether a package path is one of the standard library.
func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return slices.Contains(standardRoots, first)
}

var standardRoots = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed
	encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
	reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe
	vendor weak`)
