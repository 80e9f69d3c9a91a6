module github.com/mixtape-go/mixtape/internal/sdktest/langchaingo

go 1.25

require github.com/tmc/langchaingo v0.1.14

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/dlclark/regexp2 v1.10.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/pkoukk/tiktoken-go v0.1.6 // indirect
)

require github.com/mixtape-go/mixtape v0.0.0

replace github.com/mixtape-go/mixtape => ../../..
