package redact

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// credentialRule is the rule of ambient credentials.
var credentialRule = Rule{name: credentialName, opaque: true}

const minCredential = 16 // bytes

// isCredential reports whether a value can be an ambient credential rather than a word.
func isCredential(v string) bool {
	return len(v) >= minCredential && hasLetterAndDigit([]byte(v)) && !strings.ContainsAny(v, " \t\r\n\v\f")
}

// CredentialsFromEnv returns the values of the variables in environ ("NAME=value", as os.Environ gives them) that look
// like ambient credentials: the name ends in _KEY, _TOKEN, _SECRET or _PASSWORD, and the value has at least 16 bytes, a
// letter, a digit and no white space, and names no existing path. Pass a function that tells; nil says that none exists.
func CredentialsFromEnv(environ []string, exists func(path string) bool) []string {
	var values []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		if !slices.ContainsFunc([]string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD"}, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		if isCredential(value) && !slices.Contains(values, value) && (exists == nil || !exists(value)) {
			values = append(values, value)
		}
	}
	return values
}

// credentialHeaders are the request headers that hold a credential, in lower case.
var credentialHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "x-goog-api-key": true,
	"x-auth-token": true, "x-access-token": true, "x-amz-security-token": true, "ocp-apim-subscription-key": true,
	"cookie": true, "x-goog-iam-authorization-token": true, "helicone-auth": true, "x-portkey-api-key": true,
}

// IsCredentialHeader reports whether the request header with this name holds a credential.
func IsCredentialHeader(name string) bool { return credentialHeaders[strings.ToLower(name)] }

// credentialQueries are the query parameters that hold a credential, in lower case.
var credentialQueries = map[string]bool{
	"key": true, "api_key": true, "apikey": true, "api-key": true, "access_token": true, "token": true, "sig": true,
	"signature": true, "auth": true, "authorization": true, "password": true, "client_secret": true, "secret": true,
	"subscription-key": true, "x-amz-signature": true, "x-amz-security-token": true, "x-amz-credential": true,
	"x-goog-signature": true, "x-goog-credential": true, "x-api-key": true, "x-goog-api-key": true, "id_token": true,
	"refresh_token": true, "auth_token": true,
}

// CredentialQuery reports whether the query parameter with this name holds a credential. Matching leaves it out, and
// [Redactor.URL] hides its value.
func CredentialQuery(name string) bool { return credentialQueries[strings.ToLower(name)] }

// CredentialsOf returns what stands in the credential headers, the credential parameters of the query and the user info
// of a request, schemes such as "Bearer" left out. It is for [Redactor.Credential], which drops what is too short.
func CredentialsOf(req *http.Request) []string {
	var values []string
	add := func(v string) {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for name, all := range req.Header {
		if !IsCredentialHeader(name) {
			continue
		}
		for _, v := range all {
			headerCredentials(name, v, add)
		}
	}
	if u := req.URL; u != nil {
		for _, pair := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, _ := strings.Cut(pair, "=")
			if name, err := url.QueryUnescape(name); err != nil || !CredentialQuery(name) {
				continue
			}
			add(value)
			if plain, err := url.QueryUnescape(value); err == nil {
				add(plain)
			}
		}
		if password, ok := u.User.Password(); ok {
			add(password)
		}
	}
	slices.Sort(values) // headers come in no order
	return values
}

// headerCredentials gives add what is secret in the value of a credential header.
func headerCredentials(name, value string, add func(string)) {
	if strings.EqualFold(name, "Cookie") {
		for pair := range strings.SplitSeq(value, ";") {
			_, v, _ := strings.Cut(pair, "=")
			add(v)
		}
		return
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		add(scheme)
		return
	}
	if !strings.Contains(rest, "=") || !strings.ContainsAny(rest, ", ") {
		add(rest)
		return
	}
	// Parameters, as in "AWS4-HMAC-SHA256 Credential=AKIA…/20260101/…, SignedHeaders=…, Signature=…": the key's id is in
	// the first part of a credential.
	for pair := range strings.SplitSeq(rest, ",") {
		key, v, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if key != "SignedHeaders" {
			v, _, _ = strings.Cut(v, "/")
			add(strings.Trim(v, `"`))
		}
	}
}
