package wire

// formats returns every format that this package knows, in the order in which they are asked.
func formats() []Format {
	return []Format{
		openAIChat{},
		openAIResponses{},
		anthropicMessages{},
	}
}

func byName(name string) (Format, bool) {
	for _, f := range formats() {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}
