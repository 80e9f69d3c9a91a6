package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// provider is a local server that speaks OpenAI's chat format.
func provider() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var q struct{ Model string }
		_ = json.NewDecoder(req.Body).Decode(&q)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":"Hello from %s"},"finish_reason":"stop"}]}`, q.Model, q.Model)
	}))
}

// ask stands for an SDK.
func ask(client *http.Client, server string) {
	resp, err := client.Post(server+"/v1/chat/completions", "application/json", strings.NewReader(chatBody))
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
}

func ExampleTransport() {
	server := provider()
	defer server.Close()
	b := bus.New()
	bus.Subscribe(b, func(c *bus.LLMCall) { fmt.Println(c.Provider, c.Model, c.Status, c.Ending, c.Text()) })

	client := &http.Client{Transport: core.Transport(nil, core.WithBus(b))}
	ask(client, server.URL)
	// Output: openai gpt-4o 200 complete Hello from gpt-4o
}

func ExampleHTTPInterceptor() {
	server := provider()
	defer server.Close()
	b := bus.New()
	bus.Subscribe(b, func(c *bus.LLMCall) { fmt.Println(c.Model, c.Text()) })

	// The cheaper model will do.
	remove := core.Intercept(b, core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), "gpt-4o", "gpt-4o-mini", 1)))
		return next(req)
	}))
	defer remove()
	ask(&http.Client{Transport: core.Transport(nil, core.WithBus(b))}, server.URL)
	// Output: gpt-4o-mini Hello from gpt-4o-mini
}

type refund struct{ Amount int }

func ExampleTool() {
	b := bus.New()
	bus.Subscribe(b, func(c *bus.ToolCall) { fmt.Println(c.Name, string(c.Arguments), string(c.Result), c.Err) })

	tool := core.Tool("refund", func(_ context.Context, r refund) (string, error) {
		return fmt.Sprintf("refunded $%d", r.Amount), nil
	}, core.WithBus(b))
	answer, err := tool(context.Background(), refund{Amount: 20})
	fmt.Println(answer, err)
	// Output:
	// refund {"Amount":20} "refunded $20" <nil>
	// refunded $20 <nil>
}

func ExampleDispatch() {
	b := bus.New()
	bus.Subscribe(b, func(c *bus.ToolCall) { fmt.Println(c.ID, c.Name, string(c.Result)) })

	run := core.Dispatch(func(_ context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"sunny"`), nil
	}, core.WithBus(b))
	ctx := core.WithToolCallID(context.Background(), "call_1")
	_, _ = run(ctx, "weather", json.RawMessage(`{"city":"Bern"}`))
	// Output: call_1 weather "sunny"
}

func ExampleCall() {
	b := bus.New()
	bus.Subscribe(b, func(c *bus.FuncCall) { fmt.Println(c.Name, string(c.Request), string(c.Result)) })

	docs, _ := core.Call(context.Background(), "retrieval", "refund policy", func(context.Context) ([]string, error) {
		return []string{"30 days"}, nil
	}, core.WithBus(b))
	fmt.Println(docs)
	// Output:
	// retrieval "refund policy" ["30 days"]
	// [30 days]
}

func ExampleToolInterceptor() {
	b := bus.New()
	core.Intercept(b, core.ToolInterceptor(func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
		if req.Name == "delete_account" {
			return nil, errors.New("not without a human")
		}
		return next(ctx, req)
	}))
	tool := core.Tool("delete_account", func(context.Context, struct{}) (bool, error) { return true, nil }, core.WithBus(b))
	fmt.Println(tool(context.Background(), struct{}{}))
	// Output: false not without a human
}

func ExampleInstrument() {
	client := &http.Client{}
	instrumented := core.Instrument(client)
	fmt.Println(instrumented != client, client.Transport == nil)

	_, report, err := core.TryInstrument(client)
	fmt.Println(report.Seam, err)

	_, _, err = core.TryInstrument(42)
	fmt.Println(err != nil)
	// Output:
	// true true
	// http <nil>
	// true
}
