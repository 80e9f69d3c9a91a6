package route

import (
	"context"
	"net/url"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

func TestResolve(t *testing.T) {
	ofContext, ofClient := bus.New(), bus.New()
	ctx := context.Background()
	for _, tt := range []struct {
		reason         string
		ctx            context.Context
		client, want   *bus.Bus
		named, unowned bool
	}{
		{"neither", ctx, nil, bus.Default(), false, false},
		{"the client", ctx, ofClient, ofClient, true, false},
		{"the context before the client", WithBus(ctx, ofContext), ofClient, ofContext, true, false},
		{"unowned", Unowned(ctx), nil, bus.Default(), false, true},
		{"unowned, of a bound client", Unowned(ctx), ofClient, ofClient, true, true},
		{"unowned inside of a bus", Unowned(WithBus(ctx, ofContext)), nil, bus.Default(), false, true},
		{"a bus inside of unowned", WithBus(Unowned(ctx), ofContext), nil, ofContext, true, false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			u := &url.URL{Host: "llm.test"}
			var got Call
			name := func() string { return "the call" }
			if b, err := Resolve(tt.ctx, tt.client, name, u); b != tt.want || err != nil {
				t.Errorf("without a router: %p %v", b, err)
			}
			Install(func(c Call) (*bus.Bus, error) { got = c; return ofClient, nil })
			defer Install(nil)
			if b, err := Resolve(tt.ctx, tt.client, name, u); b != ofClient || err != nil {
				t.Errorf("the router's word does not count: %p %v", b, err)
			}
			if got.Bus != tt.want || got.Named != tt.named || got.Unowned != tt.unowned || got.Name() != "the call" || got.URL != u {
				t.Errorf("%+v", got)
			}
		})
	}
}
