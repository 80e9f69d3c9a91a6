// Package bedrock runs the conformance tests against aws-sdk-go-v2/service/bedrockruntime.
package bedrock
