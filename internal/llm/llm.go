// Package llm is the vocabulary of model requests and answers.
//
// Start with [Model]: one method that sends one [Request] as one HTTP exchange and gives a [Response].
// The package promises nothing beyond its types: it knows no vendor and does no I/O. Adapters (package provider)
// turn a Request into bytes and bytes into a Response; package prompt makes Requests and package agent reads Responses.
//
// Values are plain data. A Request and what it refers to must not be changed while a call is under way.
package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Role says who speaks in a message.
type Role string

// Roles of a message. Results of tool calls have a role of their own because every protocol treats them apart.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// BlockType says which fields of a [Block] count.
type BlockType string

// Block types.
const (
	Text      BlockType = "text"      // Text
	Reasoning BlockType = "reasoning" // Text, Carrier
	Call      BlockType = "call"      // Call
	Result    BlockType = "result"    // Result
	Picture   BlockType = "image"     // Image
)

// Block is a piece of a message.
type Block struct {
	Type  BlockType
	Owner string // the node of the record that these bytes come from; adapters copy it to the part and otherwise ignore it
	Text  string
	// Carrier is the field in which a reasoning text arrived ("reasoning_content", "reasoning"); it goes back under
	// the same name where the endpoint wants it back at all.
	Carrier string
	// Opaque is what the model's server wants back beside the text, byte for byte: a signature, an encrypted item. Only
	// the adapter that gave it understands it.
	Opaque json.RawMessage
	// Origin names the endpoint and model that a reasoning text or Opaque came from, as the adapter spells it; it goes
	// back to no other.
	Origin string
	Call   *ToolCall
	Result *ToolResult
	Image  *Image
}

// Image refers to a picture; its bytes are looked up when a request is sent (see [Images]).
type Image struct {
	Hash  string // SHA-256 of the bytes, hexadecimal
	Media string // image/png, image/jpeg, image/gif, image/webp
	Bytes int64
	Name  string // of its file; it is not sent
}

// Images gives the bytes of pictures by their hash. It is safe for concurrent use.
type Images func(ctx context.Context, hash string) ([]byte, error)

// ToolCall asks for one tool. In an answer, Name may be no tool's, even empty, and ID may be empty or not unique. Arguments is the text as received: re-marshalling it would change the bytes of the prefix.
type ToolCall struct {
	ID, Name, Arguments string
}

// ToolResult answers the call with the same ID. Content is never empty.
type ToolResult struct {
	ID, Name, Content string
}

// Message is one entry of the history.
type Message struct {
	Role   Role
	Blocks []Block
	// Key identifies the content: two messages with one non-empty key are equal, so an adapter may keep the encoded
	// form by it. Empty: not to be kept.
	Key string
}

// ToolSpec defines a tool for the model. Schema is a JSON Schema of type object, in its final bytes.
type ToolSpec struct {
	Name, Description string
	Schema            json.RawMessage
	Owner             string
}

// Params are the sampling parameters and switches of a request. A nil pointer or empty string sends no field.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`  // 0: not sent
	ToolChoice  string   `json:"tool_choice,omitempty"` // "": left to the server; "none" keeps the tools, and so the prefix, and forbids calls
	Thinking    string   `json:"thinking,omitempty"`    // on, off; "": left to the server
	Effort      string   `json:"effort,omitempty"`      // one of [Efforts]; "": left to the server
}

// Efforts lists the levels of thinking from the least to the most. Servers know some of them each; an adapter sends the
// nearest that its own knows.
func Efforts() []string {
	return []string{"minimal", "low", "medium", "high", "xhigh", "max", "ultra"}
}

// Request is everything that one model call sends.
type Request struct {
	ID, Lane string // opaque labels for the capture: the call's id, and the sequence of requests that it belongs to
	System   []Block
	Tools    []ToolSpec
	Messages []Message
	Params   Params
	// Uncounted: a stream is not asked for its usage, since the server refuses to be.
	Uncounted bool
}

// Finish is the meaning of a stop reason.
type Finish string

// Finishes. Whether there are tools to run is decided by the calls in the answer, never by the finish.
const (
	Stop          Finish = "stop"
	ToolCalls     Finish = "tool_calls"
	Length        Finish = "length" // cut at the output limit or the window
	ContentFilter Finish = "content_filter"
	Other         Finish = "other"
)

// Usage counts tokens in disjoint buckets (but Reasoning, which is part of Output). A nil bucket was not reported.
type Usage struct {
	Fresh, CacheRead, CacheWrite, Output, Reasoning *int64
	Cost                                            *float64        // US dollars, as the server says; nil: it does not
	Raw                                             json.RawMessage // the usage object as received; nil: none came
}

// Body describes one stored body of an exchange: what was kept, after masking.
type Body struct {
	Bytes  int64
	SHA256 string // hexadecimal; empty: not kept
	Masked int    // known secrets replaced; not 0: the stored bytes are not exact
}

// Exchange is what is known of the HTTP exchange, also when the call failed.
type Exchange struct {
	HTTP              int // status; 0: no response
	ProviderID        string
	Request, Response Body
	FirstByte         time.Duration // from sending to the first byte of the response body; 0: none came
	Duration          time.Duration
}

// Response is what came. Beside an error it holds what had come until then; its calls are then not to be run.
type Response struct {
	Blocks    []Block // text, reasoning and calls in order of arrival
	Finish    Finish
	RawFinish string
	Usage     Usage
	// Dropped counts calls that the answer started and that can't be kept (arguments cut in the middle).
	Dropped int
	// Garbled: the text ends with tool calls that can't be taken for calls: of no tool, or without an object for arguments.
	Garbled  bool
	Exchange Exchange
}

// DeltaPart says what a delta adds to.
type DeltaPart string

// Parts of an answer that are shown while they arrive.
const (
	TextDelta      DeltaPart = "text"
	ReasoningDelta DeltaPart = "reasoning"
)

// Delta is text that has just arrived.
type Delta struct {
	Part DeltaPart
	Text string
}

// Model sends one request as one HTTP exchange and never retries.
//
// Stream calls show for each piece of text as it arrives, from the goroutine that called Stream; show may be nil.
// The response is never nil: it holds what came, also beside an error. Errors are of type *[Error].
// When ctx ends, Stream returns promptly with an Error of class [Cancelled].
// A Model may be used by several goroutines.
type Model interface {
	Stream(ctx context.Context, r *Request, show func(Delta)) (*Response, error)
}

// Info is what is known of a model: values, never a connection. Zero means unknown.
type Info struct {
	Provider, Protocol, Model string
	Window, MaxOutput         int64 // tokens
	Local                     bool  // served on this machine or a private network
	MayCut                    bool  // it leaves out of a request what it has no room for, and does not say so
	Images                    *bool // it can look at pictures
	Prices                    *Prices
}
