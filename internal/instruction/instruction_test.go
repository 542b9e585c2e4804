package instruction_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"overt/internal/instruction"
)

func TestAgents(t *testing.T) {
	tests := map[string]struct {
		data string
		err  error
		want string // "": nothing is offered
	}{
		"a text":         {data: "use tabs\n", want: "use tabs"},
		"no file":        {err: fs.ErrNotExist},
		"an empty one":   {data: " \n"},
		"bad UTF-8":      {data: "a\xffb", want: "a\uFFFDb"},
		"a withheld one": {err: instruction.Withheld("it is a link"), want: "(AGENTS.md was not read: it is a link)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := instruction.Agents{Read: head(tt.data, tt.err)}.Gather(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || got[0].Text != tt.want || !got[0].Untrusted) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAgentsThatCantBeReadIsAnError(t *testing.T) {
	_, err := instruction.Agents{Read: head("", errors.New("input/output error"))}.Gather(context.Background())
	if err == nil || !strings.Contains(err.Error(), "AGENTS.md") {
		t.Errorf("err = %v", err)
	}
}

func TestLongAgentsIsCutAndSaysSo(t *testing.T) {
	long := strings.Repeat("é", 30<<10)
	got, err := instruction.Agents{Read: head(long, nil)}.Gather(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text := got[0].Text
	if len(text) > 34<<10 || !utf8.ValidString(text) || !strings.Contains(text, "cut here: 61440 bytes in all") || got[0].Reason != "root, cut" {
		t.Errorf("%d bytes, reason %q", len(text), got[0].Reason)
	}
}

// head gives the beginning of a text, as a file.
func head(text string, err error) func(string, int64) ([]byte, int64, error) {
	return func(_ string, max int64) ([]byte, int64, error) {
		return []byte(text[:min(int64(len(text)), max)]), int64(len(text)), err
	}
}
