package core

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"
)

// middleware is what option.Middleware is an alias of, in all Stainless SDKs.
type middleware = func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)

var typeMiddlewares = reflect.TypeFor[[]middleware]()

// PerCall returns an option for a Stainless SDK (openai-go, anthropic-sdk-go) that takes each call of a client through
// the seam. It does what [Instrument] does to such a client, without looking into one:
//
//	client := openai.NewClient(core.PerCall(option.WithMaxRetries(2)))
//
// The example, any option of the SDK's but one that sets a credential, tells which SDK it is; it is applied as well. What
// PerCall returns goes wherever the SDK takes an option; given for one request, it applies to that one.
//
// It sees what the SDK sends before the SDK's own middlewares, such as those of Azure, Bedrock and Vertex, and before
// authentication. It ties the attempts of a call together and stops the retries of what is replayed or refused.
//
// PerCall panics when example is no option of such an SDK.
func PerCall[T any](example interface{ Apply(*T) error }, opts ...Option) interface{ Apply(*T) error } {
	field, ok := middlewaresField(reflect.TypeFor[T]())
	if !ok {
		panic(&NoSeamError{
			Type:   fmt.Sprintf("%T", example),
			Reason: "its config has no Middlewares as the Stainless SDKs have them",
			Remedy: "use core.Transport for the SDK's HTTP client",
		})
	}
	return &perCallOption[T]{example: example, field: field, cfg: newConfig(opts)}
}

type perCallOption[T any] struct {
	example interface{ Apply(*T) error }
	field   []int
	cfg     *config
}

func (o *perCallOption[T]) Apply(cfg *T) error {
	if err := o.example.Apply(cfg); err != nil {
		return err
	}
	o.cfg.wrapOutermost(reflect.ValueOf(cfg).Elem().FieldByIndex(o.field))
	return nil
}

// wrapOutermost takes a call through the seam, outside of the middlewares that the SDK has for it so far. The number of
// middlewares stays what it is, as SDKs conclude from it who authenticates.
func (c *config) wrapOutermost(field reflect.Value) {
	middlewares := field.Addr().Interface().(*[]middleware)
	seam := c.perCall()
	if len(*middlewares) == 0 {
		*middlewares = []middleware{seam}
		return
	}
	wrapped := slices.Clone(*middlewares)
	inner := wrapped[0]
	wrapped[0] = func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return seam(req, func(req *http.Request) (*http.Response, error) { return inner(req, next) })
	}
	*middlewares = wrapped
}

// perCall returns the middleware of one logical call.
func (c *config) perCall() middleware {
	var call atomic.Pointer[logical]
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if q, ok := req.Body.(*bindingQuery); ok {
			q.found = c
			return nil, nil
		}
		l := call.Load()
		// The config of a call lives on in the pages of a list: the request for the next page is another call.
		if l == nil || req.Header.Get(stainlessRetryHeader) == "0" {
			l = newLogical()
			call.Store(l)
		}
		return c.roundTrip(req, next, via{logical: l, stainless: true})
	}
}

// bindingQuery is the body of a request that asks a per-call option what it is bound to.
type bindingQuery struct {
	io.ReadCloser
	found *config
}

// perCallType is how to make a per-call option of one SDK.
type perCallType struct {
	fn    reflect.Type // func(*Config) error, with a method Apply
	cfg   reflect.Type // Config
	field []int        // Middlewares in Config
}

// make returns an option that is bound by c.
func (p *perCallType) make(c *config) reflect.Value {
	return reflect.MakeFunc(p.fn, func(args []reflect.Value) []reflect.Value {
		c.wrapOutermost(args[0].Elem().FieldByIndex(p.field))
		return []reflect.Value{reflect.Zero(typeError)}
	})
}

// binding returns what option is bound by; nil when make did not make it.
func (p *perCallType) binding(option reflect.Value) (c *config) {
	// All functions of reflect.MakeFunc have one code pointer. One of somebody else's may do anything with an empty config.
	if !option.IsValid() || option.Type() != p.fn || option.Pointer() != p.make(nil).Pointer() {
		return nil
	}
	defer func() { _ = recover() }()
	cfg := reflect.New(p.cfg)
	option.Call([]reflect.Value{cfg})
	query := &bindingQuery{}
	for _, m := range *cfg.Elem().FieldByIndex(p.field).Addr().Interface().(*[]middleware) {
		_, _ = m(&http.Request{Body: query}, nil)
	}
	return query.found
}

// options notes a field named Options, when it holds the options of a Stainless SDK or could.
func (w *walk) options(slot reflect.Value, owner *node, path string) bool {
	t := slot.Type()
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Interface || t.Elem().NumMethod() != 1 {
		return false
	}
	if w.option[t.Elem()] == nil {
		if w.option[t.Elem()] = findPerCall(slot, t.Elem(), 0); w.option[t.Elem()] == nil && slot.Len() > 0 {
			return false
		}
	}
	w.layers = append(w.layers, layer{slot, owner, path})
	return true
}

// layer is a field that holds options.
type layer struct {
	slot  reflect.Value
	owner *node
	path  string
}

// placeOptions puts a per-call option behind the options of every client and service that was found.
func (w *walk) placeOptions() {
	for _, l := range w.layers {
		p := w.option[l.slot.Type().Elem()]
		if p == nil {
			w.note(l.path, "empty")
			continue
		}
		old := l.slot
		fresh := reflect.MakeSlice(old.Type(), old.Len(), old.Len()+1)
		reflect.Copy(fresh, old)
		cfg, changed, at := w.config, true, old.Len()
		for i := range old.Len() {
			if c := p.binding(old.Index(i).Elem()); c != nil {
				cfg, changed = c.rebound(w.config)
				at = i
			}
		}
		w.report.Seam = SeamPerCall
		if !w.found(l.owner, l.path, changed) {
			continue
		}
		if at == old.Len() {
			fresh = reflect.Append(fresh, p.make(cfg))
		} else {
			fresh.Index(at).Set(p.make(cfg))
		}
		l.slot.Set(fresh)
	}
}

// findPerCall looks among options, in the slices and structs that some of them are, for one that is a function of a
// config with middlewares.
func findPerCall(options reflect.Value, option reflect.Type, depth int) *perCallType {
	switch options.Kind() {
	case reflect.Interface:
		return findPerCall(options.Elem(), option, depth)
	case reflect.Func:
		t := options.Type()
		if t.NumIn() != 1 || t.In(0).Kind() != reflect.Pointer || t.NumOut() != 1 || t.Out(0) != typeError || !t.Implements(option) {
			return nil
		}
		if field, ok := middlewaresField(t.In(0).Elem()); ok {
			return &perCallType{fn: t, cfg: t.In(0).Elem(), field: field}
		}
	case reflect.Slice, reflect.Struct:
		if depth == maxDepth {
			return nil
		}
		n, at := options.NumField, options.Field
		if options.Kind() == reflect.Slice {
			n, at = options.Len, options.Index
		}
		for i := range n() {
			if p := findPerCall(at(i), option, depth+1); p != nil {
				return p
			}
		}
	}
	return nil
}

func middlewaresField(cfg reflect.Type) (index []int, ok bool) {
	if cfg.Kind() != reflect.Struct {
		return nil, false
	}
	f, ok := cfg.FieldByName("Middlewares")
	return f.Index, ok && f.Type == typeMiddlewares
}
