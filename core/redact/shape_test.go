package redact

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Secrets are put together from parts, so that no scanner of repositories takes this file for a leak.
var (
	abc   = "Abc1Def2Ghi3Jkl4Mno5Pqr6Stu7Vwx8Yz9"
	abc80 = strings.Repeat("aB3dE5gH", 10)
	hex32 = strings.Repeat("0a1b2c3d", 4)
	pem   = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA75e1\nQIDAQAB\n-----END RSA PRIVATE" + " KEY-----"
)

// positives are texts that hold one secret each.
var positives = []struct {
	shape          shape
	secret, reason string
}{
	{openaiKey, "sk-" + "ABCDEFGH12345678", "the oldest form"},
	{openaiKey, "sk-" + "proj-" + abc + "_" + abc, "a project's key"},
	{openaiKey, "sk-" + "svcacct-" + abc, "a service account's key"},
	{anthropicKey, "sk-" + "ant-api03-abc_def-ghi", "a key of Anthropic"},
	{googleKey, "AI" + "za" + strings.Repeat("b", 36), "a Google API key"},
	{googleKey, "ya" + "29.a0AfH6SMBx-" + abc, "a Google access token"},
	{awsKey, "AKIA" + "IOSFODNN7EXAMPLE", "an AWS access key id"},
	{awsKey, "ASIA" + "IOSFODNN7EXAMPLE", "a temporary one"},
	{azureKey, abc80[:52] + "JQQJ99" + abc80[:26], "a key of Azure's services"},
	{azureKey, "abc8Q~" + abc80[:34], "a client secret of Azure"},
	{githubToken, "ghp" + "_" + abc + "0", "a GitHub token"},
	{githubToken, "github" + "_pat_" + abc + "_" + abc, "a fine-grained one"},
	{gitlabToken, "glpat" + "-" + abc[:20], "a GitLab token"},
	{slackToken, "xoxb" + "-123456789012-abcdefghij", "a Slack token"},
	{stripeKey, "sk" + "_live_" + abc[:24], "a Stripe key"},
	{stripeKey, "rk" + "_test_" + abc[:24], "a restricted one"},
	{twilioKey, "SK" + hex32, "a Twilio key"},
	{twilioKey, "SG" + "." + abc[:22] + "." + abc + "aB3dE5gH", "a SendGrid key"},
	{huggingfaceToken, "hf" + "_" + abc[:34], "a Hugging Face token"},
	{npmToken, "npm" + "_" + abc + "0", "an npm token"},
	{pypiToken, "pypi" + "-AgEIcHlwaS5vcmc" + abc80, "a PyPI token"},
	{serviceToken, "gsk" + "_" + abc80[:52], "a Groq key"},
	{jwt, "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "a JWT"},
	{email, "alice.smith+tag@mail.corp.co.uk", "an e-mail address"},
	{email, "bob@x.co", "a short one"},
	{phone, "+44 20 7183 8750", "an international number"},
	{phone, "+14155552671", "one without separators"},
	{phone, "+1 (415) 555-2671", "one with brackets"},
	{phone, "415-555-2671", "an American number"},
	{phone, "(415) 555-2671", "one with brackets"},
	{card, "4539578763621486", "a card number"},
	{card, "4539 5787 6362 1486", "in groups"},
	{card, "4539-5787-6362-1486", "with dashes"},
	{privateKey, pem, "a private key"},
}

// TestShapes looks for every shape in every place.
func TestShapes(t *testing.T) {
	for _, tc := range positives {
		r := newDefault(t)
		wholeJSON := func(s string) string { b, _ := json.Marshal(map[string]string{"text": s}); return string(b) }
		places := []struct {
			name, text string
			redact     func(string) string
		}{
			{"text", "see " + tc.secret + " now", r.String},
			{"text alone", tc.secret, r.String},
			{"quoted", `x="` + tc.secret + `",`, r.String},
			{"JSON", wholeJSON("see " + tc.secret + " now"), func(s string) string { return string(r.JSON([]byte(s))) }},
			{"JSON in JSON", wholeJSON(wholeJSON("é " + tc.secret)), func(s string) string { return string(r.JSON([]byte(s))) }},
			{"name", `{` + strings.TrimSuffix(strings.TrimPrefix(wholeJSON(tc.secret), `{"text":`), "}") + `:1}`, func(s string) string { return string(r.JSON([]byte(s))) }},
			{"events", "event: x\ndata: " + wholeJSON(tc.secret) + "\n\n", func(s string) string { return string(r.Body("text/event-stream", []byte(s))) }},
			{"lines", wholeJSON(tc.secret) + "\n" + wholeJSON("b") + "\n", func(s string) string { return string(r.Body("application/x-ndjson", []byte(s))) }},
			{"form", "a=" + url.QueryEscape(tc.secret) + "&b=c", func(s string) string { return string(r.Body("application/x-www-form-urlencoded", []byte(s))) }},
			{"URL", "https://corp.com/x?a=" + url.QueryEscape(tc.secret) + "&b=c", r.URL},
		}
		for _, p := range places {
			got := p.redact(p.text)
			if plain, _ := url.QueryUnescape(got); strings.Contains(got, tc.secret) || strings.Contains(plain, tc.secret) || got == p.text {
				t.Errorf("%s in %s stays: %s", tc.reason, p.name, got)
			}
			if name := "<" + tc.shape.String() + ":"; tc.shape != email && !strings.Contains(p.name, "form") && p.name != "URL" && !strings.Contains(got, name) {
				t.Errorf("%s in %s: %s, want %s…", tc.reason, p.name, got, name)
			}
			if again := p.redact(got); again != got {
				t.Errorf("%s in %s: %s, redacted again %s", tc.reason, p.name, got, again)
			}
		}
	}
}

func TestInContext(t *testing.T) {
	r := newDefault(t)
	for _, tc := range []struct{ in, want, reason string }{
		{"Authorization: Bearer abc.def-ghi_123", "Authorization: Bearer <bearer:ibod>", "a bearer token"},
		{"Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic <bearer:", "basic credentials"},
		{"postgres://bob:hunter2@db.corp.com:5432/x", "postgres://bob:redacted-pl35@db.corp.com:5432/x", "a database URL"},
		{"postgres://bob:p^ä|ss@db.corp.com/x", "postgres://bob:redacted-", "a password that should have been escaped"},
		{"https://hooks.slack.com/services/T0/B0/abc", "https://hooks.slack.com/services/redacted-", "a Slack webhook"},
		{"AccountKey=" + abc80 + "abcdef==;EndpointSuffix=x", "AccountKey=<azure_key:", "an Azure connection string"},
		{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = <aws_key:", "an AWS secret key"},
		{"Server=x;User Id=sa;Password=P@ss;", "Server=x;User Id=sa;Password=<url_password:", "an ADO connection string"},
		{"host=x user=bob password=hunter2 dbname=y", "host=x user=bob password=<url_password:", "a libpq connection string"},
		{"mailto:alice@corp.com.", "mailto:email-miak@redacted.invalid.", "a mailto URL, and a full stop"},
		{"联系alice@corp.com。", "联系email-miak@redacted.invalid。", "no space in Chinese text"},
		{"1,4539578763621486,bob", "1,<card:", "a line of CSV"},
		{"-----BEGIN PRIVATE" + " KEY-----\n" + abc80, "<private_key:", "a private key that is cut"},
		{"see https://x.io/?q=alice@corp.com.", "see https://x.io/?q=redacted-miak.", "a URL in a text"},
	} {
		if got := r.String(tc.in); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%q became %q, want %q…: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

// TestSurvivors holds what looks a little like a secret and must not be hidden.
func TestSurvivors(t *testing.T) {
	r := newDefault(t)
	for _, tc := range []struct{ in, reason string }{
		{"task-abcdefgh12", "a word that ends in sk"},
		{"sk-learn and sk-some-name-2", "names that begin with sk"},
		{"alice@example.com, bob@mail.example.org, c@x.test, d@x.invalid, e@sub.localhost", "reserved domains"},
		{"git@github.com:org/repo.git", "a remote of git"},
		{"npm i pkg@1.2.3 pkg@v2.0.0-rc.beta logo@2x.png @app.route a@b", "at signs that are no addresses"},
		{"4111 1111 1111 1111, 4242424242424242, 5555-5555-5555-4444, 378282246310005", "test numbers of the card networks"},
		{"4539578763621487", "a wrong check digit"},
		{"1700000000000, 1700000000000000000, 20261201093000", "points in time"},
		{"415-555-0123 and +1 415 555 0199", "numbers kept for fiction"},
		{"2026-12-01, 10.1.2.3, 192.168.100.200, 3.14159265358979", "dates, addresses, versions, decimals"},
		{"550e8400-e29b-41d4-a716-446655440000 00000000-4155-5526-7100-123456789012", "UUIDs"},
		{"call_abc123DEF456ghi789 toolu_01A09q90qw90lq917835lq9 msg_01XzW7o3s58J6KauMpLBFtEf", "ids of calls and messages"},
		{"resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b chatcmpl-9x8y7z6w5v4u3t2s1r0qponmlkjih", "ids of answers"},
		{"req_011CQbXkzj sess_abcDEF0123456789abcDEF0123456789abcDEF01 org-abc", "other ids"},
		{"accounts/fireworks/models/llama-v3p1-70b-instruct-long-context claude-opus-4-5-20251101 gpt-4o-2024-08-06", "names of models"},
		{"da39a3ee5e6b4b0d3255bfef95601890afd80709 " + hex32, "hashes"},
		{"data:image/png;base64," + strings.Repeat("AKIAIOSFODNN7EXAMPLE/", 20), "media"},
		{"Bearer authentication, the bearer of this letter, basic authentication", "prose"},
		{"a well-known best-practice for multi-region fail-over", "dashes in prose"},
		{"npm_config_registry_mirror_for_the_whole_team", "a variable of npm"},
		{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "a certificate"},
		{"postgres://bob:$DB_PASSWORD@db.corp.com/x and postgres://bob:***@db/x", "passwords to be filled in"},
		{"https://corp.com:8443/a?page=2&max_tokens=5&model=x#top", "a URL without secrets"},
		{"<credential> <email> <email:q7ka> email-q7ka@redacted.invalid redacted-q7ka", "placeholders"},
	} {
		if got := r.String(tc.in); got != tc.in {
			t.Errorf("%q became %q: %s", tc.in, got, tc.reason)
		}
	}
}

func TestMembers(t *testing.T) {
	r := newDefault(t)
	for _, tc := range []struct{ in, want, reason string }{
		{`{"api_key":"a"}`, `{"api_key":"<field:`, "a name"},
		{`{"API-Key":"a"}`, `{"API-Key":"<field:`, "another spelling"},
		{`{"arguments":"{\"password\": \"p\\\"w\"}"}`, `{"arguments":"{\"password\": \"<field:`, "JSON in a string"},
		{`{"headers":{"Authorization":["Bearer x"]}}`, `{"headers":{"Authorization":["<field:`, "a list of strings"},
		{`{"client_secret":"` + "sk-" + `ABCDEFGH12345678"}`, `{"client_secret":"<openai_key:mbkx>"}`, "a shape says more than a name"},
		{`{"token":"abc1def2ghi3jkl4"}`, `{"token":"<field:`, "a token that looks like a credential"},
		{`{"token":"Hello"}`, `{"token":"Hello"}`, "a token of a text"},
		{`{"logprobs":{"content":[{"token":"abc1def2ghi3jkl4"}]}}`, `{"logprobs":{"content":[{"token":"abc1def2ghi3jkl4"}]}}`, "a token with its probability"},
		{`{"max_tokens":5,"password":null,"secret":7,"password":{"type":"string"}}`, `{"max_tokens":5,"password":null,"secret":7,"password":{"type":"string"}}`, "no strings"},
		{`{"password":"","password":"<field:abcd>"}`, `{"password":"","password":"<field:abcd>"}`, "nothing to hide"},
		{`{"data":"` + strings.Repeat("sk-ABCDEFGH12345678", 60) + `"}`, `{"data":"sk-`, "media"},
	} {
		if got := string(r.JSON([]byte(tc.in))); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s became %s, want %s…: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

// TestShortcuts holds the scanner's shortcuts to the tables that they are about.
func TestShortcuts(t *testing.T) {
	for key, all := range prefixes {
		for _, p := range all {
			if len(key) > longestWord || p.min < shortestBody || p.set&^bodySet != 0 || union([]byte(p.text[len(key):]))&bodySet == 0 {
				t.Errorf("%s: longestWord, shortestBody and bodySet pass it over", p.text)
			}
		}
	}
	for name := range assignments {
		if len(name) > longestAssignment || !is(name[len(name)-1], nameEnd) {
			t.Errorf("%s: longestAssignment and nameEnd pass it over", name)
		}
	}
}

// TestNear wants the second look at a text, which goes only where something was hidden, to find what a look at all of it
// finds. A hidden value is a wall for the first look, and none for the second.
func TestNear(t *testing.T) {
	r := newDefault(t)
	parts := []string{
		"host=x ", "password=", "hunter2", ";", "AccountKey=", "aws_secret_access_key = ", "bearer ", "a://", "://", "@", "corp.com",
		"email-q7ka@redacted.invalid", "<card:ab>", "+44 20 ", "4539 5787 ", "415-", "sk-", abc80, " ", " ", "\n", ",", ".", "-", "/", "+",
		strings.Repeat("many words ", 9), strings.Repeat("one,word,", 9), "-----BEGIN PRIVATE" + " KEY-----", "data:a;base64,",
	}
	for _, p := range positives {
		parts = append(parts, p.secret)
	}
	for seed := range uint64(5000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var text []byte
		for range 2 + rnd.IntN(12) {
			text = append(text, parts[rnd.IntN(len(parts))]...)
		}
		s := scanner{r: r}
		for s.scanAll(text); ; {
			edits := r.settle(text, s.hits, textForm)
			if len(edits) == 0 {
				break
			}
			text = apply(text, edits)
			s.scanNear(text, edits)
			near := r.settle(text, slices.Clone(s.hits), textForm)
			if all := r.settle(text, r.shapeHits(text, textForm), textForm); !slices.Equal(near, all) {
				t.Fatalf("seed %d: in %q the second look leads to %v, want %v", seed, text, near, all)
			}
		}
	}
}
