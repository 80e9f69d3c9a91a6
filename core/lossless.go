package core

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// encode returns v as JSON. The error says, with the type and the place, why the JSON does not give v back; beside it
// stands the JSON all the same, if there is any. What a panicking MarshalJSON says is an error too: live, nobody asked
// for the JSON.
func encode(v reflect.Value) (data json.RawMessage, err error) {
	if !v.IsValid() { // a nil interface
		return json.RawMessage("null"), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("of type %s does not survive JSON: encoding it panicked: %v", v.Type(), p)
		}
	}()
	// Addressable, so that MarshalJSON methods of pointers are found, as UnmarshalJSON methods are.
	was, is := reflect.New(v.Type()), reflect.New(v.Type())
	was.Elem().Set(v)

	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(was.Interface()); err != nil {
		return nil, fmt.Errorf("of type %s does not survive JSON: %w", v.Type(), err)
	}
	data = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if err := json.Unmarshal(data, is.Interface()); err != nil {
		return data, fmt.Errorf("of type %s does not survive JSON: %w", v.Type(), err)
	}
	if at, ok := survives(was.Elem(), is.Elem(), ""); !ok {
		if at == "" {
			at = "it"
		}
		return data, fmt.Errorf("of type %s does not survive JSON: %s does not come back as it was", v.Type(), at)
	}
	return data, nil
}

// survives compares a value with what its JSON gave back, and returns where they differ. It asks of the two what a
// program would notice: nil and empty slices and maps are equal, and so are two values with the same JSON where the
// type has a JSON form of its own, as time.Time has, or is an interface, which promises no type.
func survives(a, b reflect.Value, at string) (where string, ok bool) {
	if hasOwnJSON(a) {
		return at, sameJSON(a, b)
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return at, a.IsNil() == b.IsNil()
		}
		return survives(a.Elem(), b.Elem(), at)
	case reflect.Struct:
		for i := range a.NumField() {
			if w, ok := survives(a.Field(i), b.Field(i), at+"."+a.Type().Field(i).Name); !ok {
				return w, false
			}
		}
		return at, true
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return at, false
		}
		for i := range a.Len() {
			if w, ok := survives(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", at, i)); !ok {
				return w, false
			}
		}
		return at, true
	case reflect.Map:
		if a.Len() != b.Len() {
			return at, false
		}
		for it := a.MapRange(); it.Next(); {
			w := fmt.Sprintf("%s[%v]", at, it.Key())
			other := b.MapIndex(it.Key())
			if !other.IsValid() {
				return w, false
			}
			if w, ok := survives(it.Value(), other, w); !ok {
				return w, false
			}
		}
		return at, true
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return at, a.IsNil() && b.IsNil()
	}
	return at, a.Equal(b)
}

// hasOwnJSON reports whether a's JSON says all that is to be compared. Unexported fields have none.
func hasOwnJSON(a reflect.Value) bool {
	if !a.CanInterface() {
		return false
	}
	if a.Kind() == reflect.Interface {
		return true
	}
	switch jsonView(a).(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}

// jsonView returns what encoding/json looks at: the pointer to a where there is one.
func jsonView(a reflect.Value) any {
	if a.CanAddr() && a.Kind() != reflect.Interface {
		return a.Addr().Interface()
	}
	return a.Interface()
}

// sameJSON compares values by their JSON. A struct behind an interface comes back as a map, with its members in another
// order.
func sameJSON(a, b reflect.Value) bool {
	x, okX := generic(a)
	y, okY := generic(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func generic(v reflect.Value) (g any, ok bool) {
	data, err := json.Marshal(jsonView(v))
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return g, d.Decode(&g) == nil
}
