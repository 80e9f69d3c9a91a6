module github.com/mixtape-go/mixtape/internal/sdktest/goopenai

go 1.25

require github.com/sashabaranov/go-openai v1.43.0

require github.com/mixtape-go/mixtape v0.0.0

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
)

replace github.com/mixtape-go/mixtape => ../../..
