package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// What follows has the shape of aws-sdk-go-v2.
type (
	awsClient  struct{ options awsOptions }
	awsOptions struct {
		Retryer    awsRetryer
		HTTPClient doer
	}
	awsRetryer interface {
		IsErrorRetryable(error) bool
		MaxAttempts() int
		RetryDelay(int, error) (time.Duration, error)
		GetRetryToken(context.Context, error) (func(error) error, error)
		GetInitialToken() func(error) error
	}
	always   struct{}
	alwaysV2 struct{ always }

	smithyResponse struct{ *http.Response }
	smithyError    struct {
		Response *smithyResponse
		Err      error
	}
	awsError struct {
		*smithyError
		RequestID string
	}
	lost   struct{ retryable bool }
	hollow struct{ *holder }
	holder struct{ Response *smithyResponse }
)

func (always) IsErrorRetryable(error) bool                  { return true }
func (always) MaxAttempts() int                             { return 7 }
func (always) RetryDelay(int, error) (time.Duration, error) { return time.Hour, nil }
func (always) GetRetryToken(context.Context, error) (func(error) error, error) {
	return nil, nil
}
func (always) GetInitialToken() func(error) error                           { return nil }
func (alwaysV2) GetAttemptToken(context.Context) (func(error) error, error) { return nil, nil }
func (e *smithyError) Error() string                                        { return "response error" }
func (e *smithyError) Unwrap() error                                        { return e.Err }
func (l lost) Error() string                                                { return "lost" }
func (hollow) Error() string                                                { return "hollow" }
func (l lost) RetryableError() bool                                         { return l.retryable }

func TestRetryer(t *testing.T) {
	answered := func(shouldRetry string) error {
		resp := &smithyResponse{&http.Response{StatusCode: 429, Header: http.Header{}}}
		if shouldRetry != "" {
			resp.Header.Set("X-Should-Retry", shouldRetry)
		}
		return fmt.Errorf("operation error: %w", &awsError{&smithyError{resp, errors.New("throttled")}, "id"})
	}
	tests := []struct {
		err    error
		want   bool
		reason string
	}{
		{errors.New("x"), true, "the original retryer decides"},
		{answered(""), true, "the answer says nothing"},
		{answered("true"), true, "the answer asks for it"},
		{answered("false"), false, "the answer stands"},
		{fmt.Errorf("wrapped: %w", lost{false}), false, "the error says so of itself"},
		{lost{true}, true, "the error asks for it"},
		{hollow{}, true, "there is no answer in it"},
		{&smithyError{}, true, "the answer is nil"},
		{&smithyError{Response: &smithyResponse{}}, true, "the answer is nil, one step on"},
	}
	for _, original := range []awsRetryer{always{}, alwaysV2{}} {
		c := &awsClient{awsOptions{original, client}}
		b := bus.New()
		i := core.Instrument(c, core.WithBus(b))
		i = core.Instrument(i, core.WithBus(bus.New()))
		r := i.options.Retryer
		if c.options.Retryer != original {
			t.Fatal("the original was changed")
		}
		if _, v2 := original.(alwaysV2); v2 {
			if _, ok := r.(interface {
				GetAttemptToken(context.Context) (func(error) error, error)
			}); !ok {
				t.Error("the retryer lost its version 2")
			}
		}
		if r.MaxAttempts() != 7 {
			t.Error("the original is not asked")
		}
		for _, tt := range tests {
			if got := r.IsErrorRetryable(tt.err); got != tt.want {
				t.Errorf("%T: IsErrorRetryable(%v) = %v, want %v: %s", original, tt.err, got, tt.want, tt.reason)
			}
		}
	}
}
