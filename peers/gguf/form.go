package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// builder writes values in the form of the file.
type builder struct {
	b []byte
	n int // keys so far
}

func (w *builder) u32(v uint32)    { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *builder) u64(v uint64)    { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *builder) string(s string) { w.u64(uint64(len(s))); w.b = append(w.b, s...) }

func (w *builder) key(name string, kind uint32) {
	w.n++
	w.string(name)
	w.u32(kind)
}

func (w *builder) text(name, value string)      { w.key(name, typeString); w.string(value) }
func (w *builder) number(name string, v uint32) { w.key(name, typeUint32); w.u32(v) }
func (w *builder) fraction(name string, v float32) {
	w.key(name, typeFloat32)
	w.u32(math.Float32bits(v))
}
func (w *builder) raw(keyAndValue []byte) { w.n++; w.b = append(w.b, keyAndValue...) }
func (w *builder) strings(name string, all []string) {
	w.key(name, typeArray)
	w.u32(typeString)
	w.u64(uint64(len(all)))
	for _, s := range all {
		w.string(s)
	}
}

// errShort is what a reader finds that comes to the end too early.
var errShort = errors.New("the file with the vocabulary ends too early")

// reader reads values. After an error everything is empty.
type reader struct {
	all []byte
	at  int
	err error
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.all)-r.at) {
		if r.err == nil {
			r.err = errShort
		}
		return make([]byte, min(n, 8))
	}
	r.at += int(n)
	return r.all[r.at-int(n) : r.at]
}

func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) string() string {
	b := r.take(r.u64())
	if r.err != nil {
		return ""
	}
	return string(b)
}

// skip passes a value.
func (r *reader) skip(kind uint32) {
	switch kind {
	case 0, 1, 7:
		r.take(1)
	case 2, 3:
		r.take(2)
	case 4, 5, 6:
		r.take(4)
	case 10, 11, 12:
		r.take(8)
	case typeString:
		r.string()
	case typeArray:
		of := r.u32()
		for n := r.u64(); n > 0 && r.err == nil; n-- {
			r.skip(of)
		}
	default:
		r.err = fmt.Errorf("the file with the vocabulary has a value of type %d, which is not known", kind)
	}
}

// vocabulary is what a file says of tokens.
type vocabulary struct {
	keys   [][]byte // keys with their values, as they are written
	tokens []string
}

// readVocabulary reads the keys of a file that are about tokens, with the texts of some tokens changed.
func readVocabulary(file []byte, rename map[int]string) (v vocabulary, err error) {
	r := &reader{all: file}
	if string(r.take(4)) != "GGUF" {
		return v, errors.New("the file with the vocabulary is none of GGUF")
	}
	r.u32() // version
	r.u64() // tensors
	for n := r.u64(); n > 0 && r.err == nil; n-- {
		begin := r.at
		name, kind := r.string(), r.u32()
		value := r.at
		r.skip(kind)
		if r.err != nil {
			break
		}
		raw := append([]byte(nil), file[begin:r.at]...)
		switch {
		case name == "tokenizer.ggml.tokens":
			v.tokens = (&reader{all: file, at: value}).list()
			for id, text := range rename {
				if id >= 0 && id < len(v.tokens) {
					v.tokens[id] = text
				}
			}
			var w builder
			w.strings(name, v.tokens)
			v.keys = append(v.keys, w.b)
		case name == "tokenizer.ggml.token_type":
			for id := range rename {
				if at := value - begin + 12 + 4*id; id >= 0 && at+4 <= len(raw) {
					binary.LittleEndian.PutUint32(raw[at:], userDefined)
				}
			}
			v.keys = append(v.keys, raw)
		case strings.HasPrefix(name, "tokenizer.") && name != "tokenizer.chat_template":
			v.keys = append(v.keys, raw)
		}
	}
	if r.err == nil && len(v.tokens) == 0 {
		r.err = errors.New("the file has no vocabulary")
	}
	return v, r.err
}

// list reads an array of strings.
func (r *reader) list() (out []string) {
	if of := r.u32(); of != typeString {
		return nil
	}
	for n := r.u64(); n > 0 && r.err == nil; n-- {
		out = append(out, r.string())
	}
	return out
}
