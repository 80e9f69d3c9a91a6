package redact

import "bytes"

// memberNames are the names of JSON members, form fields and query parameters whose strings are hidden, in lower case.
// Never in this list: names that also hold what programs need, such as "key", "token" or "code".
var memberNames = func() (names []string) {
	for _, name := range []string{
		"api_key", "apikey", "x_api_key", "x_goog_api_key", "xapikey", "api_secret", "apisecret", "api_token", "apitoken",
		"password", "passwd", "passphrase", "db_password", "user_password", "new_password", "old_password",
		"secret", "client_secret", "clientsecret", "app_secret", "appsecret", "shared_secret", "webhook_secret",
		"secret_key", "secretkey", "secret_access_key", "secretaccesskey", "aws_secret_access_key",
		"session_token", "sessiontoken", "aws_session_token", "security_token", "access_token", "accesstoken",
		"refresh_token", "refreshtoken", "id_token", "idtoken", "auth_token", "authtoken", "bearer_token", "bearertoken",
		"oauth_token", "csrf_token", "personal_access_token", "authorization", "proxy_authorization", "x_auth_token",
		"cookie", "set_cookie", "private_key", "privatekey", "signing_key", "signingkey", "encryption_key",
		"account_key", "accountkey", "subscription_key", "ocp_apim_subscription_key", "access_key", "accesskey",
		"connection_string", "connectionstring", "database_url", "credentials",
	} {
		names = append(names, name)
		if other := dashed(name); other != name {
			names = append(names, other)
		}
	}
	return names
}()

func dashed(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == '_' {
			b[i] = '-'
		}
	}
	return string(b)
}

// fieldRule returns the rule that hides values under the name, nil if none does.
func (r *Redactor) fieldRule(name []byte) *Rule {
	if len(name) == 0 || len(name) > r.longestField || !r.fieldStart[name[0]|0x20] {
		return nil
	}
	var buf [64]byte
	return r.fields[string(appendLower(buf[:0], name))]
}

// appendLower appends b in lower case, as far as it is ASCII.
func appendLower(dst, b []byte) []byte {
	for _, c := range b {
		if is(c, upper) {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// isToken reports whether the name is that of a value that is a secret only if it looks like one: "token" also names the
// tokens of a text.
func isToken(name []byte) bool {
	return len(name) == len("token") && bytes.EqualFold(name, []byte("token"))
}
