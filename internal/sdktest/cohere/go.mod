module github.com/mixtape-go/mixtape/internal/sdktest/cohere

go 1.25

require github.com/cohere-ai/cohere-go/v2 v2.15.3

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/aws/aws-sdk-go-v2 v1.30.3 // indirect
	github.com/aws/smithy-go v1.20.3 // indirect
	github.com/google/uuid v1.4.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
)

require github.com/mixtape-go/mixtape v0.0.0

replace github.com/mixtape-go/mixtape => ../../..
