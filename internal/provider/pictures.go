package provider

import (
	"slices"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// PictureLimits are what a server takes of pictures in a request.
type PictureLimits struct {
	One   int64 // bytes of a picture
	All   int64 // bytes of all pictures together, after base64
	Count int
	Side  int // pixels of the longer side; 0: not known
}

// PicturesOf gives the limits of a server, by the host of its base URL and its protocol. Of one that is not known they are wide:
// one picture of 32 MB, and what that makes after base64; but one that speaks Messages is taken for a way to Anthropic's,
// unless it is a server of one's own.
//
// Sources: Anthropic's documents on vision (5 MB, which its server measures after base64; 8,000 pixels; 100 pictures; 32 MB for
// a request); for the others what pi-mono found out in December 2025.
func PicturesOf(protocol, endpoint string) PictureLimits {
	host := hostOf(endpoint)
	l := PictureLimits{One: 32 << 20, All: 44 << 20, Count: 1000}
	switch {
	case protocol == Messages && !wire.Local(endpoint) || within(host, "anthropic.com"):
		l = PictureLimits{One: 5 << 20 / 4 * 3, All: 30 << 20, Count: 100, Side: 8000}
	case within(host, "openai.com", "openai.azure.com"):
		l = PictureLimits{One: 25 << 20, All: 44 << 20, Count: 500}
	case within(host, "googleapis.com"):
		l.Count = 2500
	case within(host, "mistral.ai"):
		l = PictureLimits{One: 10 << 20, All: 15 << 20, Count: 8}
	case within(host, "openrouter.ai"):
		l = PictureLimits{One: 10 << 20, All: 15 << 20, Count: 100}
	}
	return l
}

// aboutPictures tells whether a server refuses a request over a picture in it, or takes none at all. Texts are those of OpenAI,
// Anthropic, Mistral, DeepSeek, OpenRouter, vLLM, Ollama and llama.cpp.
func aboutPictures(f fault) bool {
	if strings.HasSuffix(f.param, ".image_url") || strings.HasSuffix(f.param, ".image_url.url") {
		return true
	}
	return hasAny(f.search, []string{
		// the model or server takes none
		"image input is not supported", "image inputs are not supported", "support image input", "not support image", "not support vision",
		"image input is not enabled", "vision is not supported", "unknown variant `image_url`", "image_url is only supported",
		"is not a multimodal model", "missing data required for image input", "does not accept image",
		// this one
		"could not process image", "unable to process input image", "failed to process image", "failed to load image", "failed to decode image",
		"does not represent a valid image", "image does not match the provided media type", "using the image/", "invalid image", "invalid_image",
		"image_parse_error", "unsupported image", "unsupported_image", "image exceeds", "image is too large", "image_too_large", "image size",
		"image is not valid", "image dimensions exceed", "dimensions exceed max allowed size", "too many images", "too much media", "image(s) may be provided", ".image.source",
	})
}

// inOne puts messages of the user that follow each other together where one of them has a picture: their texts are one string else
// (see [chat.unclosed]), which can't hold it, and the templates of many models that take pictures insist on alternating roles.
// A text that was sent as a string is sent as a part then; that happens only where a text went without an answer.
func inOne(r *llm.Request) *llm.Request {
	var out []llm.Message
	for from := 0; from < len(r.Messages); {
		to, pictures := from, false
		for to < len(r.Messages) && r.Messages[to].Role == llm.User {
			pictures = pictures || slices.ContainsFunc(r.Messages[to].Blocks, func(b llm.Block) bool { return b.Image != nil })
			to++
		}
		if to-from > 1 && pictures {
			if out == nil {
				out = slices.Clone(r.Messages[:from])
			}
			m := llm.Message{Role: llm.User, Key: r.Messages[from].Key}
			for i, x := range r.Messages[from:to] {
				m.Blocks = append(m.Blocks, x.Blocks...)
				switch {
				case x.Key == "" || m.Key == "":
					m.Key = ""
				case i > 0:
					m.Key += "+" + x.Key
				}
			}
			out = append(out, m)
			from = to
			continue
		}
		to = max(to, from+1)
		if out != nil {
			out = append(out, r.Messages[from:to]...)
		}
		from = to
	}
	if out == nil {
		return r
	}
	joined := *r
	joined.Messages = out
	return &joined
}
