package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/config"
	"overt/internal/provider"
)

// writeEntry shows what an entry of providers may have.
func writeEntry(b *strings.Builder) {
	b.WriteString("\n## Members of an entry of `providers`\n\n```json\n" +
		`{"providers": {"NAME": {"base_url": "https://gw.example/v1", "api_key": "${GW_KEY}", "headers": {"X-Team": "blue"}}}}` +
		"\n```\n\n`--model NAME/MODEL` takes it. What an entry says stands over the setting of the same name, and below variables and flags. A variable\n" +
		"`${…}` that is not set keeps its entry from being used, and no other. The members of `quirks` are in\n" +
		"[provider-quirks.md](../provider-quirks.md#members-of-quirks).\n\n| member | value | |\n| --- | --- | --- |\n")
	for _, m := range config.EntryMembers() {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", m.Name, cell(m.Form), cell(m.Doc))
	}
}

// TestReferenceQuirks compares the table of quirks in their page with what the code says.
func TestReferenceQuirks(t *testing.T) {
	const begin, end = "<!-- The table is made from the code by `make generate`; a test fails when it drifts. -->\n", "<!-- End of the table. -->\n"
	path := filepath.Join("..", "..", "docs", "provider-quirks.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, first := strings.Cut(string(page), begin)
	_, after, second := strings.Cut(rest, end)
	if !first || !second {
		t.Fatal("the page has no place for the table")
	}
	var b strings.Builder
	b.WriteString(before + begin + "\n| member | type | values | unset | meaning | example |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, m := range provider.Members() {
		values := "any"
		switch {
		case m.Values != nil:
			values = "`" + strings.Join(m.Values, "`, `") + "`"
		case m.Form == provider.FormSwitch:
			values = "`true`, `false`"
		case m.Form == provider.FormCount:
			values = "0 or more"
		case m.Must != "":
			values = m.Must
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` |\n", m.Name, m.Form, cell(values), cell(m.Default), cell(m.Doc), m.Example)
	}
	b.WriteString("\n" + end + after)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != b.String() {
		t.Errorf("docs/provider-quirks.md is not what the code says (%s); run make generate", difference(string(page), b.String()))
	}
}
