// Package openai runs the conformance tests against openai-go, versions 1, 2 and 3.
package openai
