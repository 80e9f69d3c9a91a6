// Package ollama runs the conformance tests against github.com/ollama/ollama/api.
package ollama
