package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var converse = conformance.SDK[*bedrockruntime.Client]{
	New: func(url string) *bedrockruntime.Client {
		return bedrockruntime.New(bedrockruntime.Options{
			BaseEndpoint: &url, Region: "eu-north-1",
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
			}),
			Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond }),
		})
	},
	Text: func(ctx context.Context, c *bedrockruntime.Client, prompt string) (string, error) {
		r, err := c.Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String(conformance.Model), Messages: messages(prompt)})
		if err != nil {
			return "", err
		}
		return content(r)[0].(*types.ContentBlockMemberText).Value, nil
	},
	Stream: func(ctx context.Context, c *bedrockruntime.Client, prompt string, each func(string) bool) error {
		return stream(ctx, c, &bedrockruntime.ConverseStreamInput{ModelId: aws.String(conformance.Model), Messages: messages(prompt)}, func(e types.ConverseStreamOutput) bool {
			text := ""
			if d, ok := e.(*types.ConverseStreamOutputMemberContentBlockDelta); ok {
				text = d.Value.Delta.(*types.ContentBlockDeltaMemberText).Value
			}
			return each(text)
		})
	},
	Tool: func(ctx context.Context, c *bedrockruntime.Client, prompt string, streamed bool) (name, arguments string, err error) {
		tools := &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String("weather"), InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{"type": "object"})},
		}}}}
		if !streamed {
			r, err := c.Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String(conformance.Model), Messages: messages(prompt), ToolConfig: tools})
			if err != nil {
				return "", "", err
			}
			use := content(r)[0].(*types.ContentBlockMemberToolUse).Value
			var input map[string]any
			if err := use.Input.UnmarshalSmithyDocument(&input); err != nil {
				return "", "", err
			}
			b, err := json.Marshal(input)
			return *use.Name, string(b), err
		}
		request := &bedrockruntime.ConverseStreamInput{ModelId: aws.String(conformance.Model), Messages: messages(prompt), ToolConfig: tools}
		err = stream(ctx, c, request, func(e types.ConverseStreamOutput) bool {
			switch e := e.(type) {
			case *types.ConverseStreamOutputMemberContentBlockStart:
				name = *e.Value.Start.(*types.ContentBlockStartMemberToolUse).Value.Name
			case *types.ConverseStreamOutputMemberContentBlockDelta:
				arguments += *e.Value.Delta.(*types.ContentBlockDeltaMemberToolUse).Value.Input
			}
			return true
		})
		return name, arguments, err
	},
	Status: func(err error) int {
		var e *awshttp.ResponseError
		if errors.As(err, &e) {
			return e.HTTPStatusCode()
		}
		return 0
	},

	Provider: "aws.bedrock",
	Seam:     core.SeamHTTP,
	Paths:    1,
	Retries:  true,
	Tied:     true,
	Refused: map[string]func() error{
		"zero": conformance.Try(&bedrockruntime.Client{}),
		"nil":  conformance.Try[*bedrockruntime.Client](nil),
	},
}

func messages(prompt string) []types.Message {
	return []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: prompt}}}}
}

func content(r *bedrockruntime.ConverseOutput) []types.ContentBlock {
	return r.Output.(*types.ConverseOutputMemberMessage).Value.Content
}

func stream(ctx context.Context, c *bedrockruntime.Client, r *bedrockruntime.ConverseStreamInput, each func(types.ConverseStreamOutput) bool) error {
	out, err := c.ConverseStream(ctx, r)
	if err != nil {
		return err
	}
	s := out.GetStream()
	defer s.Close()
	for e := range s.Events() {
		if !each(e) {
			return nil
		}
	}
	return s.Err()
}

func Test(t *testing.T) { conformance.Run(t, converse) }
