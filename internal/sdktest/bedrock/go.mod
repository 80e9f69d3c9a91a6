module github.com/mixtape-go/mixtape/internal/sdktest/bedrock

go 1.25

require github.com/aws/aws-sdk-go-v2/service/bedrockruntime v1.63.13

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.27 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.12 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.12 // indirect
	github.com/aws/smithy-go v1.28.9 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
)

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/mixtape-go/mixtape v0.0.0
)

replace github.com/mixtape-go/mixtape => ../../..
