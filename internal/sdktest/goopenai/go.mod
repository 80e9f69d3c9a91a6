module github.com/mixtape-go/mixtape/internal/sdktest/goopenai

go 1.25

require github.com/sashabaranov/go-openai v1.43.0

require github.com/mixtape-go/mixtape v0.0.0

replace github.com/mixtape-go/mixtape => ../../..
