// Package genkit runs one call of each provider of github.com/firebase/genkit through the seam.
package genkit
