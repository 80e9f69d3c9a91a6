module github.com/mixtape-go/mixtape

go 1.25

require (
	github.com/andybalholm/brotli v1.3.0
	github.com/klauspost/compress v1.20.4
)
