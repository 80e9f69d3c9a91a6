package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is what the command prints.
type table struct {
	head  []string
	lines [][]string
}

// text prints t in aligned columns.
func (t table) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, line := range append([][]string{t.head}, t.lines...) {
		fmt.Fprintln(tw, strings.Join(line, "\t"))
	}
	return tw.Flush()
}

// markdown prints t as a table of Markdown.
func (t table) markdown(w io.Writer) error {
	lines := append([][]string{t.head, rule(len(t.head))}, t.lines...)
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func rule(columns int) []string {
	return strings.Split(strings.Repeat("---|", columns-1)+"---", "|")
}
