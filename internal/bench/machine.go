package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine says in one line what the figures were measured on, as far as it bears on them.
func machine() string {
	return fmt.Sprintf("%s/%s, %s, GOMAXPROCS=%d, %s", runtime.GOOS, runtime.GOARCH, processor(), runtime.GOMAXPROCS(0), runtime.Version())
}

// processor returns the model of the processor, where Linux tells it.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
