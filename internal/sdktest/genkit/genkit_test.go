package genkit

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	"github.com/openai/openai-go/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// TestGoogleAI: the plugin makes its client in Init, and models hold that client. So the plugin is instrumented after Init,
// and models are made by the instrumented copy and registered.
func TestGoogleAI(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Hello."}))
	t.Setenv("GOOGLE_GEMINI_BASE_URL", server.URL)
	b := bus.New()
	events := conformance.Listen(t, b)

	plugin := &googlegenai.GoogleAI{APIKey: "none"}
	g := genkit.Init(t.Context(), genkit.WithPlugins(plugin))
	plugin = core.Instrument(plugin, core.WithBus(b))
	m, err := plugin.DefineModel(g, conformance.Model, &ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true}})
	if err != nil {
		t.Fatal(err)
	}
	genkit.RegisterAction(g, m.(api.Registerable)) // else the original plugin is asked for the model of that name
	generate(t, g, m)
	if e := events(); len(e) != 1 {
		t.Errorf("events = %+v", e)
	}
}

// TestOpenAI: the plugin takes the SDK's options.
func TestOpenAI(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Hello."}))
	b := bus.New()
	events := conformance.Listen(t, b)

	plugin := &openai.OpenAI{APIKey: "none", Opts: []option.RequestOption{
		core.PerCall(option.WithBaseURL(server.URL+"/v1"), core.WithBus(b)),
	}}
	g := genkit.Init(t.Context(), genkit.WithPlugins(plugin))
	generate(t, g, plugin.DefineModel(conformance.Model, ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true}}))
	if e := events(); len(e) != 1 || e[0].Text() != "Hello." {
		t.Errorf("events = %+v", e)
	}
}

func generate(t *testing.T, g *genkit.Genkit, m ai.Model) {
	t.Helper()
	r, err := genkit.Generate(context.Background(), g, ai.WithModel(m), ai.WithPrompt("Say hello."))
	if err != nil || r.Text() != "Hello." {
		t.Fatal(r, err)
	}
}
