package core

import (
	"fmt"
	"reflect"
	"sync"
)

// locker is what sync.Mutex and sync.RWMutex have in common.
type locker interface {
	TryLock() bool
	Unlock()
}

// copyOf returns a pointer to a copy of the struct that p points to. The locks in the struct are held meanwhile; those
// in the copy are idle.
func copyOf(p reflect.Value) (reflect.Value, error) {
	t := p.Type().Elem()
	var held []locker
	defer func() {
		for _, l := range held {
			l.Unlock()
		}
	}()
	if err := eachLock(p.Elem(), func(lock reflect.Value) error {
		l := lock.Addr().Interface().(locker)
		if !l.TryLock() {
			return fmt.Errorf("%s is in use: instrument it before others have it", t)
		}
		held = append(held, l)
		return nil
	}); err != nil {
		return reflect.Value{}, err
	}
	c := reflect.New(t)
	c.Elem().Set(p.Elem())
	return c, eachLock(c.Elem(), func(lock reflect.Value) error {
		lock.SetZero()
		return nil
	})
}

// eachLock calls fn for each lock that lies in v itself, not behind a pointer. It returns an error when v cannot be
// copied.
func eachLock(v reflect.Value, fn func(reflect.Value) error) error {
	switch v.Type() {
	case reflect.TypeFor[sync.Mutex](), reflect.TypeFor[sync.RWMutex]():
		return fn(v)
	case reflect.TypeFor[sync.WaitGroup](), reflect.TypeFor[sync.Cond](), reflect.TypeFor[sync.Map](), reflect.TypeFor[sync.Pool]():
		return fmt.Errorf("a %s inside cannot be copied: not followed", v.Type())
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if err := eachLock(reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), fn); err != nil {
				return err
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if err := eachLock(v.Index(i), fn); err != nil {
				return err
			}
		}
	}
	return nil
}
