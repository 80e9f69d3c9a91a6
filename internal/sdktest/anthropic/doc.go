// Package anthropic runs the conformance tests against anthropic-sdk-go, versions 1 and 2.
package anthropic
