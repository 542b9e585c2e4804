package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
)

// TestEncodings: a file is read as text, and changed in what it is in.
func TestEncodings(t *testing.T) {
	const (
		gbk   = "# \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xc5\xe4\xd6\xc3\xce\xc4\xbc\xfe\r\nname = \xd5\xc5\xce\xb0\r\n" // # 这是一个配置文件 / name = 张伟
		utf16 = "\xff\xfen\x00=\x00\x20\x4f\r\x00\n\x00"                                                            // n=传
		sjis  = "// \x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67\nx = 1\n"                                      // これはテスト
	)
	p := piped(t, policy.Rules{Profile: policy.Auto}, map[string]string{"gbk": gbk, "utf16": utf16, "sjis": sjis, "stray": "日本\xff\na\n", "unknown": "\xe9\x01\na\n"})
	for path, want := range map[string]string{
		"gbk":     "1\t# 这是一个配置文件\n2\tname = 张伟\n[the encoding is GBK, and edit_file and write_file keep it. line ends are CRLF]\n",
		"utf16":   "1\tn=传\n[the encoding is UTF-16LE, and edit_file and write_file keep it. a byte order mark stands before line 1, and edit_file keeps it. line ends are CRLF]\n",
		"sjis":    "1\t// これはテスト\n2\tx = 1\n[the encoding is Shift-JIS, and edit_file and write_file keep it]\n",
		"stray":   "1\t日本\uFFFD\n2\ta\n[bytes that are not UTF-8 are shown as \uFFFD, and edit_file keeps them]\n",
		"unknown": "1\t\uFFFD\x01\n2\ta\n[the encoding is not known: bytes that are not UTF-8 are shown as \uFFFD, and edit_file keeps them]\n",
	} {
		if _, out := p.send("read_file", `{"path": "`+path+`"}`); out.Content != want {
			t.Errorf("%s: %q", path, out.Content)
		}
	}
	for _, c := range []struct{ path, old, with, want string }{
		{"gbk", "name = 张伟\n", "name = 王伟\nx = 1\n", strings.Replace(gbk, "\xd5\xc5\xce\xb0\r\n", "\xcd\xf5\xce\xb0\r\nx = 1\r\n", 1)},
		{"utf16", "n=传", "m=传", strings.Replace(utf16, "n", "m", 1)},
		{"sjis", "x = 1", "x = 'ア'", strings.Replace(sjis, "x = 1", "x = '\x83\x41'", 1)},
		{"stray", "a", "é", "日本\xff\né\n"},
		{"unknown", "a", "b", "\xe9\x01\nb\n"},
	} {
		if out := p.edit(c.path, c.old, c.with, false); out.Status != event.StatusOK || p.file(c.path) != c.want {
			t.Errorf("%s: %s, file %q", c.path, out.Content, p.file(c.path))
		}
	}
	for call, says := range map[string]string{
		`{"path": "gbk", "old_string": "x = 1", "new_string": "x = '😀'"}`:     "the file is GBK; it can't hold 😀 (U+1F600, line 1 of the new text). Nothing was written",
		`{"path": "stray", "old_string": "é", "new_string": "é\uFFFD"}`:       "U+FFFD",
		`{"path": "unknown", "old_string": "b", "new_string": "é"}`:           "é (U+00E9, line 1",
		`{"path": "gbk", "old_string": "name = 王五", "new_string": "x = '1'"}`: "the closest is line 2",
	} {
		if _, out := p.send("edit_file", call); out.Status != event.StatusError || !strings.Contains(out.Content, says) {
			t.Errorf("%s: %s %s", call, out.Status, out.Content)
		}
	}
	for path, c := range map[string]struct{ content, want string }{
		"gbk":   {"文件\n", "\xce\xc4\xbc\xfe\n"},
		"utf16": {"k=传\n", "\xff\xfek\x00=\x00\x20\x4f\n\x00"},
		"sjis":  {"テスト\n", "\x83\x65\x83\x58\x83\x67\n"},
	} {
		if path != "utf16" { // which holds every character
			if _, out := p.send("write_file", `{"path": "`+path+`", "content": `+quoted(t, c.content+"😀")+`}`); out.Code != "encoding" {
				t.Errorf("%s: %s %s", path, out.Status, out.Content)
			}
		}
		if facts, out := p.send("write_file", `{"path": "`+path+`", "content": `+quoted(t, c.content)+`}`); out.Status != event.StatusOK || p.file(path) != c.want {
			t.Errorf("%s: %s, file %q", path, out.Content, p.file(path))
		} else if f, ok := facts[len(facts)-1].Data.(event.FileChanged); !ok || !strings.Contains(f.Diff, c.content) {
			t.Errorf("%s: %s, diff %q", path, out.Content, f.Diff)
		}
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestWritePlaceholder: a whole file that leaves something out is not written, new or over another.
func TestWritePlaceholder(t *testing.T) {
	p := piped(t, policy.Rules{Profile: policy.Auto}, map[string]string{"f": "a\nb\n", "has": "a\n// ... existing code ...\n"})
	for _, path := range []string{"f", "has"} {
		p.send("read_file", `{"path": "`+path+`"}`)
	}
	for _, path := range []string{"f", "new"} {
		if _, out := p.send("write_file", `{"path": "`+path+`", "content": "x\n// ... existing code ...\n"}`); out.Code != "placeholder" || !strings.Contains(out.Content, "line 2 of content") {
			t.Errorf("%s: %s %s", path, out.Code, out.Content)
		}
	}
	if _, out := p.send("write_file", `{"path": "has", "content": "x\n// ... existing code ...\n"}`); out.Status != event.StatusOK {
		t.Errorf("%s", out.Content)
	}
	if p.file("f") != "a\nb\n" || p.file("has") != "x\n// ... existing code ...\n" {
		t.Errorf("%q, %q", p.file("f"), p.file("has"))
	}
}

// TestEncodingIsRemembered: a file that was read as GBK is GBK, also when no character is left that tells it.
func TestEncodingIsRemembered(t *testing.T) {
	const file = "title=\xd3\xc3\xbb\xa7\xc3\xfb\nx=1\n" // 用户名
	p := piped(t, policy.Rules{Profile: policy.Auto}, map[string]string{"a": file, "b": file})
	p.send("read_file", `{"path": "a"}`)
	p.send("read_file", `{"path": "b"}`)
	p.edit("a", "title=用户名", "title=user", false)
	p.send("write_file", `{"path": "b", "content": "title=user\nx=1\n"}`)
	for _, path := range []string{"a", "b"} {
		if out := p.edit(path, "x=1", "x=数据", false); out.Status != event.StatusOK || p.file(path) != "title=user\nx=\xca\xfd\xbe\xdd\n" {
			t.Errorf("%s: %s, file %q", path, out.Content, p.file(path))
		}
	}
}
