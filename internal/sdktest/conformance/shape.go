package conformance

import "reflect"

// Stainless looks at the type of a Stainless SDK's client: it counts the fields named Options in it and in its services,
// all of which must be reached, and names the fields that could hide more of them from core.Instrument.
func Stainless(client any) (options int, hidden []string) {
	var look func(t reflect.Type, path string)
	look = func(t reflect.Type, path string) {
		for i := range t.NumField() {
			f := t.Field(i)
			path := path + "." + f.Name
			switch k := f.Type.Kind(); {
			case !f.IsExported():
				hidden = append(hidden, path)
			case f.Name == "Options":
				options++
			case k == reflect.Struct:
				look(f.Type, path)
			case k == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
				look(f.Type.Elem(), path)
			case k >= reflect.Array && k != reflect.String:
				hidden = append(hidden, path) // no number or bool, nor a struct
			}
		}
	}
	look(reflect.TypeOf(client), "client")
	return options, hidden
}
