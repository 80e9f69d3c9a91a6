package core

import "github.com/mixtape-go/mixtape/bus"

// Option narrows what Instrument, Transport, Tool and their kin do. None may be given twice.
type Option func(*config)

type config struct {
	bus      *bus.Bus // nil: the default bus
	provider string   // gen_ai.provider.name given by the caller, empty when it is to be found
}

func newConfig(opts []Option) *config {
	c := &config{}
	for _, o := range opts {
		o(c)
	}
	return c
}

// WithBus binds a client or a tool to b. Without it, calls run on the bus of their context, else on [bus.Default]. The
// bus of the context comes before b.
func WithBus(b *bus.Bus) Option {
	return func(c *config) {
		if c.bus != nil {
			panic("core: WithBus is given twice; a client has one bus")
		}
		c.bus = b
	}
}

// WithProvider names the provider (OTel's gen_ai.provider.name) of a client whose host does not tell, and makes every
// exchange of that client an LLM call.
func WithProvider(name string) Option {
	return func(c *config) {
		if c.provider != "" {
			panic("core: WithProvider is given twice; a client has one provider")
		}
		c.provider = name
	}
}
