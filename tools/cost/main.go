// Command cost computes the cost of the service on AWS: for a million requests of a kind, and
// for a month at several loads. Units and milliseconds are from docs/performance.md, list
// prices from prices.go, and assumptions from model.go. It prints the tables of
// docs/operations.md, or writes them into the document.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	measured := flag.String("figures", "docs/performance.md", "the document with the measured figures")
	into := flag.String("into", "", "the document whose tables are replaced, such as docs/operations.md; none to print them")
	flag.Parse()
	if err := run(*measured, *into); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the tables, or writes them into a document.
func run(measured, into string) error {
	tables, err := computed(measured)
	if err != nil {
		return err
	}
	if into == "" {
		_, err := fmt.Fprint(os.Stdout, tables)
		return err
	}
	text, err := os.ReadFile(into)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	replaced, err := replace(string(text), tables)
	if err != nil {
		return fmt.Errorf("cost: %s: %w", into, err)
	}
	return os.WriteFile(into, []byte(replaced), 0o644) //nolint:gosec // a document for everyone
}

// computed returns the tables for the figures of a document.
func computed(measured string) (string, error) {
	text, err := os.ReadFile(measured)
	if err != nil {
		return "", fmt.Errorf("cost: %w", err)
	}
	all, err := figures(string(text))
	if err != nil {
		return "", err
	}
	return render(all)
}

// Lines of a document around the tables.
const (
	begin = "<!-- cost: what make cost prints -->\n"
	end   = "<!-- cost: end -->\n"
)

// between returns the tables of a document and the text around them.
func between(text string) (before, tables, after string, err error) {
	before, rest, ok := strings.Cut(text, begin)
	if ok {
		tables, after, ok = strings.Cut(rest, end)
	}
	if !ok {
		return "", "", "", errors.New("has no place for the tables")
	}
	return before, tables, after, nil
}

// replace replaces the tables of a document.
func replace(text, tables string) (string, error) {
	before, _, after, err := between(text)
	return before + begin + tables + end + after, err
}
