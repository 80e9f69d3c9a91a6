// Package cohere runs the conformance tests against github.com/cohere-ai/cohere-go/v2.
package cohere
