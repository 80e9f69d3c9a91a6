// Package jsonpath is the small path language that names places in a JSON value.
//
//	$                 the whole value
//	.name ['name']    a member of an object; ["name"] says the same, with the escapes of JSON
//	.*                every member of an object
//	[2]               an element of an array, counted from 0
//	[*]               every element of an array
//
// A path is always full: it begins with $ and there is no "..". Names are compared byte by byte, unescaped.
package jsonpath
