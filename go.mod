module github.com/mixtape-go/mixtape

go 1.25
