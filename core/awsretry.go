package core

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"
)

// retryer is aws.Retryer of aws-sdk-go-v2. Its methods have types of the standard library only, so that a type here can
// stand in its place.
type retryer interface {
	IsErrorRetryable(error) bool
	MaxAttempts() int
	RetryDelay(attempt int, err error) (time.Duration, error)
	GetRetryToken(context.Context, error) (func(error) error, error)
	GetInitialToken() func(error) error
}

// retryerV2 is aws.RetryerV2.
type retryerV2 interface {
	retryer
	GetAttemptToken(context.Context) (func(error) error, error)
}

var typeRetryer = reflect.TypeFor[retryer]()

// finalRetryer is a retryer that obeys X-Should-Retry: false, which a replayed failure carries, so that it costs no
// sleep.
type finalRetryer struct{ retryer }

func (r finalRetryer) IsErrorRetryable(err error) bool {
	return !isFinal(err) && r.retryer.IsErrorRetryable(err)
}

type finalRetryerV2 struct{ retryerV2 }

func (r finalRetryerV2) IsErrorRetryable(err error) bool {
	return !isFinal(err) && r.retryerV2.IsErrorRetryable(err)
}

// retryer puts a finalRetryer in slot.
func (w *walk) retryer(slot reflect.Value, owner *node, path string) {
	var wrapped any
	switch r := slot.Interface().(type) {
	case finalRetryer, finalRetryerV2:
		return
	case retryerV2:
		wrapped = finalRetryerV2{r}
	case retryer:
		wrapped = finalRetryer{r}
	}
	v := reflect.ValueOf(wrapped)
	if !v.Type().AssignableTo(slot.Type()) {
		w.note(path, "cannot be told not to retry what is replayed")
		return
	}
	slot.Set(v)
	owner.change()
}

// isFinal reports whether err says of itself that a retry is no use, or comes from an answer that says so.
func isFinal(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if r, ok := err.(interface{ RetryableError() bool }); ok && !r.RetryableError() {
			return true
		}
		if resp := responseIn(reflect.ValueOf(err), 0); resp != nil {
			return resp.Header.Get("X-Should-Retry") == "false"
		}
	}
	return false
}

// responseIn returns the *http.Response in the field Response of v, directly, or under more fields of that name.
func responseIn(v reflect.Value, depth int) *http.Response {
	if v.Type() == reflect.TypeFor[*http.Response]() {
		return v.Interface().(*http.Response)
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || depth == 3 {
		return nil
	}
	f, ok := v.Type().FieldByName("Response")
	if !ok || !f.IsExported() {
		return nil
	}
	field, err := v.FieldByIndexErr(f.Index)
	if err != nil {
		return nil
	}
	return responseIn(field, depth+1)
}
