package redact

import "net/http"

// keptHeaders are the headers that a recording keeps, in canonical form. All others go: what they hold differs from run
// to run, is computed anew, or is nobody's business.
var keptHeaders = map[string]bool{
	"Content-Type":        true,
	"Content-Encoding":    true,
	"Content-Language":    true,
	"Content-Disposition": true,
	"Content-Length":      true, // of an answer without a body; of any other, the recorder takes it out
	"Retry-After":         true,
	"Retry-After-Ms":      true,
	"X-Should-Retry":      true,
	"Location":            true,
	"Operation-Location":  true,
	"X-Amzn-Errortype":    true,
	"X-Request-Id":        true,
	"Request-Id":          true,
	"X-Amzn-Requestid":    true,
	"X-Amz-Request-Id":    true,
	"Apim-Request-Id":     true,
	"X-Ms-Request-Id":     true,
	"X-Goog-Request-Id":   true,
	"Anthropic-Version":   true,
	"Anthropic-Beta":      true,
	"Openai-Version":      true,
	"Openai-Model":        true,
}

// Header returns the headers of h that a recording keeps, their values redacted. The result shares nothing with h and
// is never nil.
func (r *Redactor) Header(h http.Header) http.Header {
	kept := make(http.Header)
	for name, values := range h {
		canonical := http.CanonicalHeaderKey(name)
		if !keptHeaders[canonical] {
			continue
		}
		for _, v := range values {
			if canonical == "Location" || canonical == "Operation-Location" {
				v = r.URL(v)
			} else {
				v = r.String(v)
			}
			kept[canonical] = append(kept[canonical], v)
		}
	}
	return kept
}
