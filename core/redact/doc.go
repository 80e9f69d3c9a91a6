// Package redact hides secrets in copies of text, JSON, URLs, headers and streams of events, and never touches the
// live values.
//
// A [Rule] says what a secret looks like: a pattern in text, the name of a JSON member, a path, a literal value. A
// [Redactor] applies the built-in rules and the caller's. It puts a placeholder in a secret's place:
//
//	email-q7ka@redacted.invalid   for an e-mail address
//	redacted-q7ka                 in a URL and in percent-escaped text
//	<rule:q7ka>                   elsewhere
//	<rule>                        for a rule that is Opaque
//	<credential>                  for an ambient credential
//	redacted                      for the last two, in a URL
//
// A number becomes another number. Of a signed block in which something is hidden, the signature is hidden too. A value
// that comes in pieces, over several events of a stream, is hidden where its first piece stood.
//
// The letters after the name are the value's fingerprint: the first characters, in lower-case base32, of an HMAC-SHA-256
// of the value under one constant of the format: four (20 bits), or two (10 bits) for a value without letters. It tells
// values apart and hides them; it is no encryption. Where two values of one Redactor would fall together, the later
// placeholder is lengthened, a character at a time, until it is no prefix of an earlier value's whole fingerprint.
//
// In a URL a hidden value reaches to the ends of the words that it cuts, so that its placeholder is found again.
//
// Redacting is idempotent: a placeholder is left alone. Its cost is linear in the length of the text.
package redact
