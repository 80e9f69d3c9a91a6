package redact

// Models sign their reasoning, and refuse it when it comes back changed. So where something in a signed block was hidden,
// the signature is hidden too: a block never stands in a file with a signature that does not fit.

// signatureRule is the rule of signatures.
var signatureRule = Rule{name: signatureName, kind: memberRule}

const signatureName = "signature"

// signed is what a walk knows of the signature in an object.
type signed struct {
	token    span // of the signature's string
	thinking bool // the object holds the text that "signature" is for
}

// isSignature reports whether the string under name signs what stands beside it. A "signature" does so beside "thinking",
// and beside the "text" of Bedrock's and OpenRouter's reasoning, only.
func isSignature(name []byte) bool {
	return string(name) == signatureName || signsParts(name)
}

// signsParts reports whether name is that of a signature of Gemini's, which signs the part that it stands in.
func signsParts(name []byte) bool {
	return string(name) == "thoughtSignature" || string(name) == "thought_signature"
}

// sign notes that the string at next is a signature, or what one signs.
func (w *walk) sign(next *spot, start, end int) {
	n := len(w.stack)
	if n == 0 || w.stack[n-1].array {
		return
	}
	in := &w.stack[n-1]
	switch name := w.b[next.name.start+1 : next.name.end-1]; {
	case signsParts(name):
		in.signed = signed{token: span{start, end}, thinking: true}
	case string(name) == signatureName:
		in.signed.token = span{start, end}
	case string(name) == "thinking", string(name) == "text":
		in.signed.thinking = true
	}
}

// unsign hides the signature of the object that ends, if something in it was hidden.
func (w *walk) unsign(object *spot) {
	token := object.signed.token
	if !object.signed.thinking || token.end-token.start <= len(`""`) {
		return
	}
	at, others := len(w.edits), false
	for i, e := range w.edits[object.edits:] {
		if token.start < e.end && e.start < token.end {
			return // a rule of the user's hides it
		}
		others = true
		if e.start > token.start {
			at = min(at, object.edits+i)
		}
	}
	value := w.b[token.start+1 : token.end-1]
	if !others || w.r.isPlaceholder(value) {
		return
	}
	hide := edit{token.start + 1, token.end - 1, w.r.placeholder(&signatureRule, value, w.form)}
	w.edits = append(w.edits, edit{})
	copy(w.edits[at+1:], w.edits[at:])
	w.edits[at] = hide
}
