package bus

// Attached returns the value that is attached to b under key. When there is none it attaches what first returns, or,
// when first is nil, returns nil. The value lives as long as b does and is never replaced. It is how a package keeps
// what belongs to a bus without a table of buses; the key is of a type of that package's own, as for context.WithValue.
// Parents are not asked.
//
// It is safe for concurrent use: first may be called by several goroutines at once, and all get the same value.
func (b *Bus) Attached(key any, first func() any) any {
	if v, ok := b.attached.Load(key); ok || first == nil {
		return v
	}
	v, _ := b.attached.LoadOrStore(key, first())
	return v
}
