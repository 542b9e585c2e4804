package workspace_test

import (
	"errors"
	"strings"
	"testing"

	"overt/internal/workspace"
)

// TestLadder: each step finds what it should, says that it did, and puts the new text in as the file is.
// covers A052
func TestLadder(t *testing.T) {
	for _, c := range []struct {
		name, data string
		edit       workspace.Edit
		want, how  string
	}{
		{"exact", "a\n", workspace.Edit{Old: "a", New: "b"}, "b\n", workspace.HowExact},
		{"exact before line ends", "a\r\nb\r\na\nb\n", workspace.Edit{Old: "a\nb", New: "x\ny"}, "a\r\nb\r\nx\ny\n", workspace.HowExact},
		{"exact with CR LF", "a\r\nb\r\na\nb\n", workspace.Edit{Old: "a\r\nb", New: "x\r\ny"}, "x\r\ny\r\na\nb\n", workspace.HowExact},
		{"all means both line ends", "a\r\nb\r\na\nb\n", workspace.Edit{Old: "a\nb", New: "x\ny", All: true}, "x\r\ny\r\nx\ny\n", workspace.HowEnds},
		{"all of a text without line ends", "a\r\nb a\r\n", workspace.Edit{Old: "a", New: "x", All: true}, "x\r\nb x\r\n", workspace.HowExact},
		{"line ends", "a\r\nb\r\n", workspace.Edit{Old: "a\nb", New: "x\ny\nz"}, "x\r\ny\r\nz\r\n", workspace.HowEnds},
		{"no match begins inside CR LF", "stay\r\ndrop", workspace.Edit{Old: "\ndrop"}, "stay", workspace.HowEnds},
		{"no match ends inside CR LF", "a\r\nb", workspace.Edit{Old: "a\r\n", New: "x\r\n"}, "x\r\nb", workspace.HowExact},
		{"lines that stay keep their ends", "a\r\nb\nc\r\n", workspace.Edit{Old: "a\nb\nc\n", New: "a\nx\ny\nb\nc\n"}, "a\r\nx\ny\nb\nc\r\n", workspace.HowEnds},

		{"exact before quotes", "a = “x”\na = \"x\"\n", workspace.Edit{Old: `a = "x"`, New: `a = "y"`}, "a = “x”\na = \"y\"\n", workspace.HowExact},
		{"quotes in the file", "say(“it’s”)\n", workspace.Edit{Old: `say("it's")`, New: `say("no")`}, "say(\"no\")\n", workspace.HowUnicode},
		{"quotes in the call", "say(\"it's\")\n", workspace.Edit{Old: `say(“it’s”)`, New: `say("no")`}, "say(\"no\")\n", workspace.HowUnicode},
		{"dashes", "a – b — c − d\n", workspace.Edit{Old: "a - b - c - d", New: "x"}, "x\n", workspace.HowUnicode},
		{"spaces", "a\u00A0b\u202Fc\u3000d\n", workspace.Edit{Old: "a b c d", New: "x"}, "x\n", workspace.HowUnicode},
		{"decomposed file", "cafe\u0301=1\nnai\u0308ve=2\n", workspace.Edit{Old: "caf\u00E9=1", New: "caf\u00E9=3"}, "caf\u00E9=3\nnai\u0308ve=2\n", workspace.HowUnicode},
		{"composed file", "caf\u00E9=1\n", workspace.Edit{Old: "cafe\u0301=1", New: "x"}, "x\n", workspace.HowUnicode},
		{"lines that stay keep their quotes", "“a”\n“b”\n“c”\n", workspace.Edit{Old: "\"a\"\n\"b\"\n\"c\"\n", New: "\"a\"\n\"x\"\n\"c\"\n"}, "“a”\n\"x\"\n“c”\n", workspace.HowUnicode},
		{"quotes and CR LF", "“a”\r\nb\r\n", workspace.Edit{Old: "\"a\"\nb", New: "x\ny"}, "x\r\ny\r\n", workspace.HowUnicode},

		{"white space at the end of a line of the file", "a  \nb\t\nc\n", workspace.Edit{Old: "a\nb\n", New: "x\ny\n"}, "x\ny\nc\n", workspace.HowSpace},
		{"white space at the end of a line of the call", "a\nb\nc\n", workspace.Edit{Old: "a  \nb", New: "x\ny"}, "x\ny\nc\n", workspace.HowSpace},
		{"at the end of the call", "ab\nb\n", workspace.Edit{Old: "ab ", New: "x"}, "x\nb\n", workspace.HowSpace},
		{"at the end of the call, other in the file", "ab\t\nc\n", workspace.Edit{Old: "ab  ", New: "x"}, "x\nc\n", workspace.HowSpace},
		{"at the end of file", "a \nb  ", workspace.Edit{Old: "a\nb", New: "x\ny"}, "x\ny  ", workspace.HowSpace},
		{"lines that stay keep their white space", "a  \nb  \nc  \n", workspace.Edit{Old: "a\nb\nc\n", New: "a\nx\nc\n"}, "a  \nx\nc  \n", workspace.HowSpace},
		{"blank lines with white space", "a\n    \nb\n", workspace.Edit{Old: "a\n\nb", New: "a\n\nx"}, "a\n    \nx\n", workspace.HowSpace},
		{"and CR LF", "a  \r\nb\r\n", workspace.Edit{Old: "a\nb\n", New: "x\ny\n"}, "x\r\ny\r\n", workspace.HowSpace},

		{"tabs in the file", "\tif x {\n\t\ty()\n\t}\n", workspace.Edit{Old: "    if x {\n        y()\n    }", New: "    if x {\n        z()\n        if q {\n            r()\n        }\n    }"}, "\tif x {\n\t\tz()\n\t\tif q {\n\t\t\tr()\n\t\t}\n\t}\n", workspace.HowIndent},
		{"spaces in the file", "    if x {\n        y()\n    }\n", workspace.Edit{Old: "\tif x {\n\t\ty()\n\t}\n", New: "\tif x {\n\t\ty()\n\t\tfor {\n\t\t\tz()\n\t\t}\n\t}\n"}, "    if x {\n        y()\n        for {\n            z()\n        }\n    }\n", workspace.HowIndent},
		{"two spaces for four", "a:\n  b:\n    c\n", workspace.Edit{Old: "a:\n    b:\n        c\n", New: "a:\n    b:\n        c\n        d:\n            e\n"}, "a:\n  b:\n    c\n    d:\n      e\n", workspace.HowIndent},
		{"no indentation in the call", "        one()\n        two()\n", workspace.Edit{Old: "one()\ntwo()\n", New: "one()\nif x:\n    three()\n"}, "        one()\n        if x:\n            three()\n", workspace.HowIndent},
		{"no indentation in the call, tabs in the file", "\t\tone()\n\t\ttwo()\n", workspace.Edit{Old: "one()\ntwo()\n", New: "if x:\n    three()\n        four()\n"}, "\t\tif x:\n\t\t\tthree()\n\t\t\t\tfour()\n", workspace.HowIndent},
		{"too deep in the call", "if a:\n    go(1)\n", workspace.Edit{Old: "        go(1)\n", New: "        stop()\n    end()\n"}, "if a:\n    stop()\nend()\n", workspace.HowIndent},
		{"first line without, others with", "\tif x {\n\t\ty()\n\t}\n", workspace.Edit{Old: "if x {\n        y()\n    }", New: "if z {\n        y()\n        w()\n    }"}, "\tif z {\n\t\ty()\n\t\tw()\n\t}\n", workspace.HowIndent},
		{"end inside a line", "\tf(a,\n\t\tb, c)\n", workspace.Edit{Old: "    f(a,\n        b", New: "    f(a,\n        x"}, "\tf(a,\n\t\tx, c)\n", workspace.HowIndent},
		{"alignment is kept", "\tf(a,\n\t  b)\n", workspace.Edit{Old: "    f(a,\n      b)\n", New: "    f(a,\n      b,\n      c)\n"}, "\tf(a,\n\t  b,\n\t  c)\n", workspace.HowIndent},
		{"one line at another depth, tabs in the file", "\t\treturn x\n", workspace.Edit{Old: "    return x", New: "    if y {\n        return x\n    }"}, "\t\tif y {\n\t\t\treturn x\n\t\t}\n", workspace.HowIndent},
		{"one line at another depth, spaces in the file", "        return x\n", workspace.Edit{Old: "\treturn x", New: "\tif y {\n\t\treturn x\n\t}"}, "        if y {\n            return x\n        }\n", workspace.HowIndent},
		{"one line at the same depth, two spaces in the file", "    return x\n", workspace.Edit{Old: "\t\treturn x", New: "\t\tif y {\n\t\t\treturn x\n\t\t}"}, "    if y {\n      return x\n    }\n", workspace.HowIndent},
		{"one line, then two less deep", "\t\t\t\treturn x\n", workspace.Edit{Old: "        return x", New: "    }\n    return x"}, "\t\t}\n\t\treturn x\n", workspace.HowIndent},
		{"blank lines", "\ta()\n\n\tb()\n", workspace.Edit{Old: "  a()\n\n  b()\n", New: "  a()\n\n  c()\n"}, "\ta()\n\n\tc()\n", workspace.HowIndent},
		{"indentation, ends and quotes", "\ta(“x”)  \r\n\tb()\r\n", workspace.Edit{Old: "    a(\"x\")\n    b()\n", New: "    a(\"x\")\n    c()\n"}, "\ta(“x”)  \r\n\tc()\r\n", workspace.HowIndent},
		{"nothing left", "\ta()\n\tb()\n\tc()\n", workspace.Edit{Old: "    a()\n    b()\n", New: ""}, "\tc()\n", workspace.HowIndent},
		{"all", "\tx(1)\n\t\tx(1)\n", workspace.Edit{Old: "  x(1)\n", New: "  y(2)\n", All: true}, "\ty(2)\n\t\ty(2)\n", workspace.HowIndent},
		{"pinned", "\tx(1)\n\t\tx(1)\n", workspace.Edit{Old: "  x(1)\n", New: "  y(2)\n", Lines: []int{2}}, "\tx(1)\n\t\ty(2)\n", workspace.HowIndent},

		{"numbers", "a\nb\nc\n", workspace.Edit{Old: "2\tb\n3\tc\n", New: "2\tx\n3\ty\n4\tz\n"}, "a\nx\ny\nz\n", workspace.HowExact},
		{"numbers in the old text only", "a\nb\n", workspace.Edit{Old: "2\tb", New: "x"}, "a\nx\n", workspace.HowExact},
		{"numbers of the file", "1\ta\n2\tb\n", workspace.Edit{Old: "2\tb", New: "2\tx"}, "1\ta\n2\tx\n", workspace.HowExact},
		{"numbers tell one line from others", "pear\npear\npear\n", workspace.Edit{Old: "2\tpear\n", New: "2\tplum\n"}, "pear\nplum\npear\n", workspace.HowExact},
		{"numbers tell one line, all", "pear\npear\n", workspace.Edit{Old: "2\tpear", New: "plum", All: true}, "pear\nplum\n", workspace.HowExact},
		{"numbers and the lines they are on", "pear\npear\n", workspace.Edit{Old: "2\tpear", New: "plum", Lines: []int{1, 2}}, "pear\nplum\n", workspace.HowExact},
		{"numbers behind a byte order mark", "\uFEFFa\nb\n", workspace.Edit{Old: "1\ta", New: "1\tx"}, "\uFEFFx\nb\n", workspace.HowExact},
		{"numbers, other indentation", "\tb()\n\tb()\n", workspace.Edit{Old: "2\tb()", New: "2\tx()"}, "\tb()\n\tx()\n", workspace.HowIndent},
		{"numbers, tolerance there and the very bytes elsewhere", "“b”\n\"b\"\n", workspace.Edit{Old: "1\t\"b\"", New: "1\tx"}, "x\n\"b\"\n", workspace.HowUnicode},
		{"numbers, then tolerance", "a\n\tb\n", workspace.Edit{Old: "1\ta  \n2\t\tb", New: "1\ta\n2\t\tx"}, "a\n\tx\n", workspace.HowSpace},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := workspace.Replace(t.Context(), []byte(c.data), c.edit)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes) != c.want || got.How != c.how {
				t.Errorf("got %q by %s, want %q by %s", got.Bytes, got.How, c.want, c.how)
			}
			if want := strings.HasPrefix(c.name, "numbers") && c.name != "numbers of the file"; got.Numbered != want {
				t.Errorf("numbered %v", got.Numbered)
			}
		})
	}
}

// TestLadderRefuses: what is not the same text, or could be in two places, is not changed.
func TestLadderRefuses(t *testing.T) {
	for _, c := range []struct {
		name, data string
		edit       workspace.Edit
		code, says string
	}{
		{"two by quotes", "a “x”\na ”x“\n", workspace.Edit{Old: `a "x"`, New: "b"}, "several", "2 times apart from Unicode forms"},
		{"two by white space", "a \nb\na  \nb\n", workspace.Edit{Old: "a\nb\n", New: "x"}, "several", "2 times apart from white space at line ends, starting on lines 1, 3"},
		{"two by indentation", "if a:\n    go(1)\nif b:\n        go(1)\n", workspace.Edit{Old: "\tgo(1)\n", New: "\tstop()\n"}, "several", "2 times apart from indentation, starting on lines 2, 4"},
		{"pinned elsewhere", "\ta()\n\tb()\n", workspace.Edit{Old: "  b()\n", New: "  c()\n", Lines: []int{1}}, "other_lines", "starts on line 2 apart from indentation"},
		{"another word", "\ta(1)\n", workspace.Edit{Old: "    a(2)\n", New: "x"}, "no_match", "nowhere"},
		{"another case", "Value\n", workspace.Edit{Old: "value", New: "x"}, "no_match", ""},
		{"white space inside", "a  b\n", workspace.Edit{Old: "a b", New: "x"}, "no_match", "white space"},
		{"a blank line more", "a\n\nb\n", workspace.Edit{Old: "a\nb", New: "x"}, "no_match", ""},
		{"middle differs", "f {\n\ta\n\tb\n}\n", workspace.Edit{Old: "f {\n    a\n    c\n}", New: "x"}, "no_match", ""},
		{"nested less deep", "if a:\n    x()\ny()\n", workspace.Edit{Old: "if a:\n  x()\n  y()\n", New: "z"}, "no_match", "white space"},
		{"nested deeper", "if a:\n    x()\n    y()\n", workspace.Edit{Old: "if a:\n  x()\ny()\n", New: "z"}, "no_match", "white space"},
		{"part of a word", "foobar\n", workspace.Edit{Old: "foo ", New: "x"}, "no_match", ""},
		{"part of an accent", "e\u0301a\n", workspace.Edit{Old: "\u00E9b", New: "x"}, "no_match", ""},
		{"white space alone", "a\n\t\tb\n", workspace.Edit{Old: "   \n  ", New: "x"}, "no_match", ""},
		{"less deep than all", "a:\n\t\tb\n", workspace.Edit{Old: "        b\n", New: "        b\n\t  c\n"}, "indentation", "line 2 of new_string"},
		{"full-width is another letter", "ａ = 1\n", workspace.Edit{Old: "a = 1", New: "x"}, "no_match", ""},
		{"numbers in some new lines", "a\nb\n", workspace.Edit{Old: "1\ta\n2\tb", New: "1\tx\ny"}, "numbers", "leave the numbers out of both"},
		{"numbers that don't follow", "a\nb\n", workspace.Edit{Old: "1\ta\n3\tb", New: "x"}, "no_match", ""},
		{"numbers in some old lines", "a\nb\n", workspace.Edit{Old: "1\ta\nb", New: "x"}, "no_match", ""},
		{"numbers of a table", "10\tapple\n11\tpear\n", workspace.Edit{Old: "12\tpear", New: "12\tplum"}, "no_match", "alike"},
		{"numbers of a table, one more row", "10\tapple\n11\tpear\n", workspace.Edit{Old: "12\tpear\n", New: "12\tpear\n13\tfig\n"}, "no_match", "alike"},
		{"numbers of a table, one more row without", "10\tapple\n11\tpear\n", workspace.Edit{Old: "12\tpear\n", New: "12\tpear\nfig\n"}, "no_match", "alike"},
		{"numbers of a table that has such a line", "10\tapple\n11\tpear\n", workspace.Edit{Old: "2\tpear", New: "2\tplum"}, "no_match", ""},
		{"numbers, inside a word", "a\nmapear()\n", workspace.Edit{Old: "7\tpear", New: "7\tplum"}, "no_match", ""},
		{"numbers, inside a word of that line", "a\nmapear()\n", workspace.Edit{Old: "2\tpear", New: "2\tplum"}, "no_match", ""},
		{"numbers of another line", "pear\na\n", workspace.Edit{Old: "2\tpear", New: "2\tplum"}, "no_match", "nowhere"},
		{"numbers that lines contradicts", "pear\npear\n", workspace.Edit{Old: "2\tpear", New: "2\tplum", Lines: []int{1}}, "no_match", "nowhere"},
		{"indentation that is not ASCII", "　　第一段。\n　　第二段。", workspace.Edit{Old: "    第一段。", New: "    第一段!"}, "no_match", "line 1 differs only in white space"},
		{"indentation that is not ASCII, second line", "a:\n\u00A0\u00A0b\n", workspace.Edit{Old: "a:\n    b\n", New: "a:\n    c\n"}, "no_match", "lines 1-2 differ only in white space"},
		{"indentation that is partly ASCII", "\t\u00A0b\n", workspace.Edit{Old: "    b\n", New: "    c\n"}, "no_match", "white space"},
		{"copied as stray bytes are shown", "日本\xff a\n", workspace.Edit{Old: "日本\uFFFD a", New: "x"}, "encoding", "choose old_string without"},
		{"copied as stray bytes are shown, to keep them", "日本\xff a\n", workspace.Edit{Old: "日本\uFFFD a", New: "日本\uFFFD b"}, "encoding", "choose old_string without"},
		{"copied as bytes of an unknown encoding are shown", "\xff\x01 a\n", workspace.Edit{Old: "\uFFFD\x01 a", New: "x"}, "encoding", "choose old_string without"},
		{"already so", "“a”\n", workspace.Edit{Old: `"a"`, New: "“a”"}, "same", "line 1 already has the text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := workspace.Replace(t.Context(), []byte(c.data), c.edit)
			var e *workspace.EditError
			if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Text, c.says) {
				t.Errorf("got %q, %v", got.Bytes, err)
			}
		})
	}
}
