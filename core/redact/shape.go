package redact

// shape is a kind of secret that is known by how it is written.
type shape byte

const (
	openaiKey shape = iota
	anthropicKey
	googleKey
	awsKey
	azureKey
	githubToken
	gitlabToken
	slackToken
	stripeKey
	twilioKey
	huggingfaceToken
	npmToken
	pypiToken
	serviceToken
	jwt
	bearer
	privateKey
	urlPassword
	email
	phone
	card

	numShapes = iota
)

var shapeNames = [numShapes]string{
	openaiKey:        "openai_key",
	anthropicKey:     "anthropic_key",
	googleKey:        "google_key",
	awsKey:           "aws_key",
	azureKey:         "azure_key",
	githubToken:      "github_token",
	gitlabToken:      "gitlab_token",
	slackToken:       "slack_token",
	stripeKey:        "stripe_key",
	twilioKey:        "twilio_key",
	huggingfaceToken: "huggingface_token",
	npmToken:         "npm_token",
	pypiToken:        "pypi_token",
	serviceToken:     "service_token",
	jwt:              "jwt",
	bearer:           "bearer",
	privateKey:       "private_key",
	urlPassword:      "url_password",
	email:            emailName,
	phone:            "phone",
	card:             "card",
}

func (s shape) String() string { return shapeNames[s] }

// prefix is how a token begins and what follows.
type prefix struct {
	text  string
	shape shape
	set   class // of the bytes that follow
	min   int   // how many of them
	mixed int   // how many of lower case, upper case and digits must be among them
}

// prefixes are the beginnings of tokens, by what stands before the first dash or underscore. Of those that fit, the
// first holds.
var prefixes = func() map[string][]prefix {
	m := make(map[string][]prefix)
	for _, p := range []prefix{
		{"sk-ant-", anthropicKey, word, 10, 2},
		{"sk-proj-", openaiKey, word, 20, 2},
		{"sk-svcacct-", openaiKey, word, 20, 2},
		{"sk-admin-", openaiKey, word, 20, 2},
		{"sk-or-v1-", serviceToken, word, 32, 2},
		{"sk-lf-", serviceToken, word, 20, 2},
		{"sk-", openaiKey, word, 16, 2},
		{"sess-", openaiKey, alnum, 40, 2},
		{"ek_", openaiKey, alnum, 32, 2},
		{"GOCSPX-", googleKey, word, 20, 2},
		{"github_pat_", githubToken, word, 36, 2},
		{"ghp_", githubToken, alnum, 30, 2},
		{"gho_", githubToken, alnum, 30, 2},
		{"ghu_", githubToken, alnum, 30, 2},
		{"ghs_", githubToken, alnum, 30, 2},
		{"ghr_", githubToken, alnum, 30, 2},
		{"glpat-", gitlabToken, word | dot, 20, 2},
		{"gldt-", gitlabToken, word, 20, 2},
		{"glft-", gitlabToken, word, 20, 2},
		{"glrt-", gitlabToken, word | dot, 20, 2},
		{"glrtr-", gitlabToken, word, 20, 2},
		{"glptt-", gitlabToken, word, 20, 2},
		{"glcbt-", gitlabToken, word, 20, 2},
		{"glimt-", gitlabToken, word, 20, 2},
		{"glsoat-", gitlabToken, word, 20, 2},
		{"glagent-", gitlabToken, word, 20, 2},
		{"gloas-", gitlabToken, word, 20, 2},
		{"xoxa-", slackToken, word, 10, 1},
		{"xoxb-", slackToken, word, 10, 1},
		{"xoxc-", slackToken, word, 10, 1},
		{"xoxd-", slackToken, word | local, 10, 1},
		{"xoxe-", slackToken, word, 10, 1},
		{"xoxo-", slackToken, word, 10, 1},
		{"xoxp-", slackToken, word, 10, 1},
		{"xoxr-", slackToken, word, 10, 1},
		{"xoxs-", slackToken, word, 10, 1},
		{"xapp-", slackToken, word, 20, 2},
		{"sk_live_", stripeKey, alnum, 10, 2},
		{"sk_test_", stripeKey, alnum, 10, 2},
		{"sk_prod_", stripeKey, alnum, 10, 2},
		{"rk_live_", stripeKey, alnum, 10, 2},
		{"rk_test_", stripeKey, alnum, 10, 2},
		{"rk_prod_", stripeKey, alnum, 10, 2},
		{"whsec_", stripeKey, b64, 24, 2},
		{"hf_", huggingfaceToken, alnum, 30, 2},
		{"api_org_", huggingfaceToken, alnum, 30, 2},
		{"npm_", npmToken, alnum, 30, 2},
		{"pypi-AgE", pypiToken, word, 40, 2},
		{"gsk_", serviceToken, alnum, 40, 2},            // Groq
		{"xai-", serviceToken, alnum, 60, 2},            // xAI
		{"pplx-", serviceToken, alnum, 40, 2},           // Perplexity
		{"nvapi-", serviceToken, word, 50, 2},           // NVIDIA
		{"r8_", serviceToken, alnum, 36, 2},             // Replicate
		{"fw_", serviceToken, alnum, 22, 3},             // Fireworks
		{"csk-", serviceToken, alnum, 40, 2},            // Cerebras
		{"tgp_v1_", serviceToken, word, 40, 2},          // Together
		{"tvly-", serviceToken, word, 28, 2},            // Tavily
		{"lsv2_pt_", serviceToken, alnum | dash, 40, 2}, // LangSmith
		{"lsv2_sk_", serviceToken, alnum | dash, 40, 2},
		{"dop_v1_", serviceToken, alnum, 60, 2}, // DigitalOcean
		{"shpat_", serviceToken, alnum, 32, 2},  // Shopify
		{"shpss_", serviceToken, alnum, 32, 2},
		{"shpca_", serviceToken, alnum, 32, 2},
		{"dckr_pat_", serviceToken, word, 24, 2},         // Docker
		{"glsa_", serviceToken, word, 40, 2},             // Grafana
		{"sntrys_", serviceToken, b64, 60, 2},            // Sentry
		{"sbp_", serviceToken, alnum, 40, 2},             // Supabase
		{"figd_", serviceToken, word, 36, 2},             // Figma
		{"ntn_", serviceToken, alnum, 40, 2},             // Notion
		{"NRAK-", serviceToken, alnum, 27, 2},            // New Relic
		{"PMAK-", serviceToken, word, 50, 2},             // Postman
		{"lin_api_", serviceToken, alnum, 40, 2},         // Linear
		{"pscale_tkn_", serviceToken, word | dot, 32, 2}, // PlanetScale
		{"pscale_pw_", serviceToken, word | dot, 32, 2},
		{"AGE-SECRET-KEY-1", serviceToken, upper | digit, 50, 2}, // age
	} {
		end := run([]byte(p.text), 0, alnum)
		m[p.text[:end]] = append(m[p.text[:end]], p)
	}
	return m
}()

const (
	longestWord  = 7                        // the length of the longest key of prefixes
	shortestBody = 10                       // the least min of prefixes
	bodySet      = word | b64 | local | dot // all their sets
)

// kinds counts which of lower case, upper case and digits are in b.
func kinds(b []byte) (n int) {
	u := union(b)
	for _, c := range []class{upper, lower, digit} {
		if u&c != 0 {
			n++
		}
	}
	return n
}
