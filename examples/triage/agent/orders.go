package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Order is what a customer bought, and what was charged for it.
type Order struct {
	Number  string `json:"order"`
	Item    string `json:"item"`
	Email   string `json:"email"`
	Cents   int64  `json:"price_cents"`
	Charged int64  `json:"charged_cents"`
}

// Lookup asks for an order.
type Lookup struct {
	Order string `json:"order"`
}

// Refund asks for money to be given back.
type Refund struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
}

// Receipt says what was given back.
type Receipt struct {
	Order    string `json:"order"`
	Refunded int64  `json:"refunded_cents"`
}

// What the tools refuse.
var (
	ErrNoOrder = errors.New("no such order")
	ErrNotDue  = errors.New("not due for a refund")
)

// Orders is the order book. It is safe for concurrent use.
type Orders struct {
	mu      sync.Mutex
	byOrder map[string]Order
}

// SampleOrders returns a book with two orders: 1042, which was charged twice, and 1043.
func SampleOrders() *Orders {
	return &Orders{byOrder: map[string]Order{
		"1042": {Number: "1042", Item: "desk lamp", Email: "dana.reyes@lampmail.shop", Cents: 3900, Charged: 7800},
		"1043": {Number: "1043", Item: "kettle", Email: "sam.okafor@lampmail.shop", Cents: 2550, Charged: 2550},
	}}
}

// Lookup returns an order, or ErrNoOrder.
func (o *Orders) Lookup(_ context.Context, q Lookup) (Order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	order, ok := o.byOrder[q.Order]
	if !ok {
		return Order{}, fmt.Errorf("%w: %s", ErrNoOrder, q.Order)
	}
	return order, nil
}

// Refund gives back what an order was charged too much, or returns ErrNoOrder or ErrNotDue.
func (o *Orders) Refund(_ context.Context, r Refund) (Receipt, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	order, ok := o.byOrder[r.Order]
	switch {
	case !ok:
		return Receipt{}, fmt.Errorf("%w: %s", ErrNoOrder, r.Order)
	case r.Cents <= 0 || r.Cents > order.Charged-order.Cents:
		return Receipt{}, fmt.Errorf("%w: order %s, %d cents", ErrNotDue, r.Order, r.Cents)
	}
	order.Charged -= r.Cents
	o.byOrder[r.Order] = order
	return Receipt{Order: r.Order, Refunded: r.Cents}, nil
}
