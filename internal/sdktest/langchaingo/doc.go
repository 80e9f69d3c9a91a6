// Package langchaingo runs one call of each provider of github.com/tmc/langchaingo through the seam.
package langchaingo
