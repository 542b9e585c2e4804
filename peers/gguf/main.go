// Command gguf writes a model file for llama.cpp's server: a small network of the llama architecture with random weights,
// around the vocabulary of another file. Such a model says nothing of sense, and calls tools all the same: -bias makes
// tokens likely in general, -bigram makes one likely after another, and the server's grammar does the rest. It is for
// tests of the wire alone.
//
// The form of the file is that of ggml's docs/gguf.md, version 3: counts, keys with values, the list of tensors, their data.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The shape of the network.
const (
	width   = 64 // of an embedding
	layers  = 2
	heads   = 4
	context = 32768 // tokens
)

// Types of values, and the alignment of tensors.
const (
	typeUint32  = 4
	typeFloat32 = 6
	typeString  = 8
	typeArray   = 9
	alignment   = 32
	userDefined = 4 // a kind of token
)

// recipe says what to make.
type recipe struct {
	template string             // for chats; "": none
	rename   map[int]string     // tokens of the vocabulary that get another text
	bias     map[string]float64 // added to the score of a token
	bigrams  []bigram
	scale    float64 // of the random weights
	seed     uint64
}

// bigram adds to the score of a token after another one.
type bigram struct {
	after, token string
	score        float64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gguf: ")
	vocab := flag.String("vocab", "", "take the vocabulary of this `FILE`")
	template := flag.String("template", "", "take the chat template of this `FILE`")
	out := flag.String("out", "", "write this `FILE`")
	rename := flag.String("rename", "", "`ID=TEXT ...`: give tokens another text")
	bias := flag.String("bias", "", "`TOKEN=SCORE ...`: make tokens likely")
	bigrams := flag.String("bigram", "", "`TOKEN~TOKEN=SCORE ...`: make the second likely after the first")
	scale := flag.Float64("scale", 0.05, "how far the weights go from 0")
	seed := flag.Uint64("seed", 1, "of the weights")
	flag.Parse()
	if err := run(*vocab, *template, *out, *rename, *bias, *bigrams, recipe{scale: *scale, seed: *seed}); err != nil {
		log.Fatal(err)
	}
}

func run(vocab, template, out, rename, bias, bigrams string, r recipe) error {
	data, err := os.ReadFile(vocab)
	if err != nil {
		return err
	}
	if template != "" {
		text, err := os.ReadFile(template)
		if err != nil {
			return err
		}
		r.template = string(text)
	}
	if err := r.parse(rename, bias, bigrams); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(r.write(w, data), w.Flush(), f.Close())
	if err != nil {
		os.Remove(out)
	}
	return err
}

// parse reads the lists of the command line. A token may hold any sign, so the last = divides.
func (r *recipe) parse(rename, bias, bigrams string) error {
	r.rename, r.bias = map[int]string{}, map[string]float64{}
	for _, f := range strings.Fields(rename) {
		id, text, _ := strings.Cut(f, "=")
		n, err := strconv.Atoi(id)
		if err != nil {
			return fmt.Errorf("%q is not ID=TEXT", f)
		}
		r.rename[n] = text
	}
	score := func(f string) (string, float64, error) {
		i := strings.LastIndex(f, "=")
		if i < 0 {
			return "", 0, fmt.Errorf("%q has no score", f)
		}
		x, err := strconv.ParseFloat(f[i+1:], 64)
		return f[:i], x, err
	}
	for _, f := range strings.Fields(bias) {
		token, x, err := score(f)
		if err != nil {
			return err
		}
		r.bias[token] = x
	}
	for _, f := range strings.Fields(bigrams) {
		pair, x, err := score(f)
		if err != nil {
			return err
		}
		after, token, _ := strings.Cut(pair, "~")
		r.bigrams = append(r.bigrams, bigram{after, token, x})
	}
	if len(r.bigrams) >= width {
		return fmt.Errorf("there is room for %d bigrams", width-1)
	}
	return nil
}

// tensor is a matrix, or a vector of ones.
type tensor struct {
	name string
	dims []uint64
	ones bool
}

func (t tensor) size() uint64 {
	n := uint64(1)
	for _, d := range t.dims {
		n *= d
	}
	return n
}

// tensors lists those of the network.
func tensors(words int) []tensor {
	const e, kv, ff = width, width / 2, width * 2
	n := uint64(words)
	list := []tensor{{"token_embd.weight", []uint64{e, n}, false}, {"output_norm.weight", []uint64{e}, true}, {"output.weight", []uint64{e, n}, false}}
	for i := range layers {
		p := fmt.Sprintf("blk.%d.", i)
		list = append(list,
			tensor{p + "attn_norm.weight", []uint64{e}, true}, tensor{p + "attn_q.weight", []uint64{e, e}, false},
			tensor{p + "attn_k.weight", []uint64{e, kv}, false}, tensor{p + "attn_v.weight", []uint64{e, kv}, false},
			tensor{p + "attn_output.weight", []uint64{e, e}, false}, tensor{p + "ffn_norm.weight", []uint64{e}, true},
			tensor{p + "ffn_gate.weight", []uint64{e, ff}, false}, tensor{p + "ffn_up.weight", []uint64{e, ff}, false},
			tensor{p + "ffn_down.weight", []uint64{ff, e}, false})
	}
	return list
}

// write makes the file.
func (r recipe) write(w *bufio.Writer, vocab []byte) error {
	words, err := readVocabulary(vocab, r.rename)
	if err != nil {
		return err
	}
	var keys builder
	keys.text("general.architecture", "llama")
	keys.text("general.name", "random")
	for _, raw := range words.keys {
		keys.raw(raw)
	}
	for _, kv := range []struct {
		key   string
		value uint32
	}{
		{"vocab_size", uint32(len(words.tokens))},
		{"context_length", context},
		{"embedding_length", width},
		{"block_count", layers},
		{"feed_forward_length", width * 2},
		{"attention.head_count", heads},
		{"attention.head_count_kv", heads / 2},
		{"rope.dimension_count", width / heads},
	} {
		keys.number("llama."+kv.key, kv.value)
	}
	keys.fraction("llama.attention.layer_norm_rms_epsilon", 1e-6)
	if r.template != "" {
		keys.text("tokenizer.chat_template", r.template)
	}
	list := tensors(len(words.tokens))
	var head builder
	head.b = append(head.b, "GGUF"...)
	head.u32(3)
	head.u64(uint64(len(list)))
	head.u64(uint64(keys.n))
	head.b = append(head.b, keys.b...)
	at := uint64(0)
	for _, t := range list {
		head.string(t.name)
		head.u32(uint32(len(t.dims)))
		for _, d := range t.dims {
			head.u64(d)
		}
		head.u32(0) // of 32-bit floats
		head.u64(at)
		at += aligned(t.size() * 4)
	}
	head.b = append(head.b, make([]byte, aligned(uint64(len(head.b)))-uint64(len(head.b)))...)
	if _, err := w.Write(head.b); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(r.seed, 0))
	for _, t := range list {
		weights := make([]float32, t.size())
		for i := range weights {
			weights[i] = 1
			if !t.ones {
				weights[i] = float32(rng.NormFloat64() * r.scale)
			}
		}
		if err := r.steer(t, weights, words.tokens); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, weights); err != nil {
			return err
		}
		if _, err := w.Write(make([]byte, aligned(t.size()*4)-t.size()*4)); err != nil {
			return err
		}
	}
	return nil
}

func aligned(n uint64) uint64 { return (n + alignment - 1) / alignment * alignment }

// steer writes scores into the weights of what comes in and of what goes out. Dimension 0 is 1 in every embedding, so about
// the root of the width after the last norm: there a token's row of the output has its bias. Each bigram has a dimension of
// its own, which is 1 for its first token alone.
func (r recipe) steer(t tensor, weights []float32, tokens []string) error {
	in, out := t.name == "token_embd.weight", t.name == "output.weight"
	if len(r.bias) == 0 || !in && !out {
		return nil
	}
	at := func(token string) (int, error) {
		if i := slices.Index(tokens, token); i >= 0 {
			return i * width, nil
		}
		return 0, fmt.Errorf("the vocabulary has no token %q", token)
	}
	for row := 0; row < len(weights); row += width {
		weights[row] = 0
		if in {
			weights[row] = 1
		}
		clear(weights[row+1 : row+1+len(r.bigrams)])
	}
	for i, b := range r.bigrams {
		token, value := b.after, float32(1)
		if out {
			token, value = b.token, float32(b.score/math.Sqrt(width/2))
		}
		row, err := at(token)
		if err != nil {
			return err
		}
		weights[row+1+i] = value
	}
	if in {
		return nil
	}
	for token, score := range r.bias {
		row, err := at(token)
		if err != nil {
			return err
		}
		weights[row] = float32(score / math.Sqrt(width))
	}
	return nil
}
