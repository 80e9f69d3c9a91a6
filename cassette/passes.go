package cassette

import "sync"

// passes knows which tests recorded in this process, so that -count records in the first pass of a test only.
var passes passTable

type passTable struct {
	mu   sync.Mutex
	done map[[2]string]bool
}

// first reports whether the test has not recorded this file in this process before.
func (p *passTable) first(file, test string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.done[[2]string{file, test}]
}

func (p *passTable) note(file, test string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == nil {
		p.done = map[[2]string]bool{}
	}
	p.done[[2]string{file, test}] = true
}
