// Package goopenai runs the conformance tests against github.com/sashabaranov/go-openai.
package goopenai
