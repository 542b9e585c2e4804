package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vocabularyFile is a file as llama.cpp has them for its tokenizers: keys and no tensors.
func vocabularyFile() []byte {
	var keys builder
	keys.text("general.architecture", "other")
	keys.text("tokenizer.ggml.model", "gpt2")
	keys.strings("tokenizer.ggml.tokens", []string{"a", "b", "<spare>", "="})
	keys.key("tokenizer.ggml.token_type", typeArray)
	keys.u32(5)
	keys.u64(4)
	for range 4 {
		keys.u32(1)
	}
	keys.text("tokenizer.chat_template", "the old one")
	var file builder
	file.b = append(file.b, "GGUF"...)
	file.u32(3)
	file.u64(0)
	file.u64(uint64(keys.n))
	return append(file.b, keys.b...)
}

// TestModel reads what was written: the keys, where each tensor lies, and the scores in it.
func TestModel(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string]string{"vocab": string(vocabularyFile()), "template": "the new one"} {
		if err := os.WriteFile(path(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := run(path("vocab"), path("template"), path("model"), "2=<call>", "<call>=8 ==4", "a~<call>=2 <call>~==3", recipe{scale: 0.05, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path("model"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"the new one", "<call>", "llama.block_count"} {
		if !strings.Contains(string(file), text) {
			t.Errorf("the file does not have %q", text)
		}
	}
	for _, text := range []string{"the old one", "<spare>", "other"} {
		if strings.Contains(string(file), text) {
			t.Errorf("the file has %q", text)
		}
	}
	r := &reader{all: file, at: 8}
	count := r.u64()
	for n := r.u64(); n > 0; n-- {
		r.string()
		r.skip(r.u32())
	}
	type place struct{ at, size uint64 }
	places := map[string]place{}
	end := uint64(0)
	for range count {
		name, size := r.string(), uint64(4)
		for n := r.u32(); n > 0; n-- {
			size *= r.u64()
		}
		r.u32()
		at := r.u64()
		if at != end || at%alignment != 0 {
			t.Errorf("%s lies at %d; the one before ends at %d", name, at, end)
		}
		end = aligned(at + size)
		places[name] = place{at, size}
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	data := aligned(uint64(r.at))
	if uint64(len(file)) != data+end || len(places) != 3+9*layers {
		t.Errorf("%d tensors, %d bytes; the data are %d from %d on", len(places), len(file), end, data)
	}
	weight := func(name string, row, column uint64) float64 {
		at := data + places[name].at + 4*(row*width+column)
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(file[at:])))
	}
	for _, x := range []struct {
		name        string
		row, column uint64
		want        float64
	}{
		{"token_embd.weight", 1, 0, 1},
		{"token_embd.weight", 0, 1, 1},
		{"token_embd.weight", 1, 1, 0},
		{"token_embd.weight", 2, 2, 1},
		{"output.weight", 0, 0, 0},
		{"output.weight", 2, 0, 1},
		{"output.weight", 3, 0, 0.5},
		{"output.weight", 2, 1, 2 / math.Sqrt(32)},
		{"output.weight", 3, 2, 3 / math.Sqrt(32)},
		{"output_norm.weight", 0, 63, 1},
	} {
		if got := weight(x.name, x.row, x.column); math.Abs(got-x.want) > 1e-6 {
			t.Errorf("%s %d %d is %g, want %g", x.name, x.row, x.column, got, x.want)
		}
	}
	if x := weight("output.weight", 1, 40); x == 0 || math.Abs(x) > 0.5 {
		t.Errorf("a weight is %g", x)
	}
}

// TestRefuses: what can't be made leaves no file behind.
func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	vocab, out := filepath.Join(dir, "vocab"), filepath.Join(dir, "model")
	whole := vocabularyFile()
	for name, x := range map[string]struct {
		vocab                 []byte
		rename, bias, bigrams string
		want                  string
	}{
		"no form":      {[]byte("PK"), "", "", "", "none of GGUF"},
		"another form": {[]byte("PK\x03\x04"), "", "", "", "none of GGUF"},
		"short":        {whole[:len(whole)-40], "", "", "", "ends too early"},
		"no tokens":    {append([]byte("GGUF"), make([]byte, 20)...), "", "", "", "no vocabulary"},
		"no token":     {whole, "", "zzz=1", "", `no token "zzz"`},
		"no second":    {whole, "", "a=1", "a~zzz=1", `no token "zzz"`},
		"no score":     {whole, "", "a", "", "no score"},
		"no id":        {whole, "a=b", "", "", "ID=TEXT"},
		"too many":     {whole, "", "", strings.Repeat("a~b=1 ", width), "room for 63"},
	} {
		if err := os.WriteFile(vocab, x.vocab, 0o600); err != nil {
			t.Fatal(err)
		}
		err := run(vocab, "", out, x.rename, x.bias, x.bigrams, recipe{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a file", name)
		}
	}
}

// FuzzVocabulary: no file makes the reader fail in another way than by an error.
func FuzzVocabulary(f *testing.F) {
	f.Add(vocabularyFile())
	f.Fuzz(func(t *testing.T, file []byte) {
		v, err := readVocabulary(file, map[int]string{1: "x", 1 << 40: "y"})
		if err == nil && len(v.tokens) == 0 {
			t.Error("no tokens, and no error")
		}
	})
}
