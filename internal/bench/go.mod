module github.com/mixtape-go/mixtape/internal/bench

go 1.26.0

require (
	github.com/mixtape-go/mixtape v0.0.0
	github.com/openai/openai-go/v3 v3.99.0
	gopkg.in/dnaeon/go-vcr.v4 v4.0.8
)

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
)

replace github.com/mixtape-go/mixtape => ../..
