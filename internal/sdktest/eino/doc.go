// Package eino runs one call of the OpenAI model of github.com/cloudwego/eino-ext through the seam.
package eino
