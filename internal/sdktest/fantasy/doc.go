// Package fantasy runs one call of each provider of charm.land/fantasy through the seam.
package fantasy
