// Package genai runs the conformance tests against google.golang.org/genai.
package genai
