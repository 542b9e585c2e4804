// Package prompt turns the record into model requests.
//
// A [Thread] is the fold of a path: apply its nodes in order, then [Build] gives the request. Build is a pure function
// of the thread; what sources offer ([Source], [Fragment]) becomes facts first, through [Choose]. So a recorded thread
// rebuilds its requests anywhere, and between two requests the earlier messages are a prefix of the later ones unless a
// recorded fact names the cause: here, a context.head that differs.
//
// The package calls no model and reads no file. A Thread belongs to one goroutine; requests that Build gave stay valid.
package prompt

import (
	"context"

	"overt/internal/event"
)

// Source offers text for the context of a turn. It is asked at the start of a turn, never by Build.
type Source interface {
	Gather(ctx context.Context) ([]Fragment, error)
}

// Fragment is a text that a source offers.
type Fragment struct {
	Source, Name string // together they identify the text; a newer version replaces the older one
	Version      string // changes when the text does
	Reason       string // why it is offered, as a code
	Place        string // PlaceHead: in the system prompt if that is taken anew now; PlaceHere: with the person's message
	Text         string
	Priority     int // higher goes first within the head
	Untrusted    bool
}

// Places of fragments.
const (
	PlaceHead = "head"
	PlaceHere = "here"
)

// estimate guesses the tokens of a text: about 4 bytes a token, 0.7 tokens a CJK character. It is an estimate and is to
// be called so wherever it is shown.
func estimate(s string) int {
	narrow, wide := 0, 0
	for _, r := range s {
		if r >= 0x2E80 {
			wide++
		} else {
			narrow++
		}
	}
	return (narrow+3)/4 + (wide*7+9)/10
}

// Choose decides on what sources offer and on the head. want is the head that the turn needs (cause and fragments are
// filled in). It gives the drafts of context.packed, of context.taken for what is new or changed, and of context.head
// where there is none or where the wanted one differs; an unchanged context gives context.packed alone.
func Choose(t *Thread, want event.ContextHead, offers []Fragment) []event.Draft {
	cause := t.headCause(want, offers)
	var taken []event.Draft
	packed := event.ContextPacked{Items: []event.PackedItem{}}
	offered := map[string]bool{}
	for _, f := range offers {
		key := f.Source + "/" + f.Name
		offered[key] = true
		item := event.PackedItem{
			Source: f.Source, Name: f.Name, Version: f.Version, Reason: f.Reason, Priority: f.Priority, Estimate: estimate(f.Text), Choice: "include",
		}
		old, known := t.taken[key]
		switch {
		case known && old.version == f.Version:
			item.Choice = "keep"
		default:
			place := f.Place
			if cause == "" || (known && old.place == PlaceHere) {
				place = PlaceHere
			}
			taken = append(taken, event.Draft{Data: event.ContextTaken{
				Source: f.Source, Name: f.Name, Version: f.Version, Place: place, Reason: f.Reason, Text: f.Text,
				Supersedes: old.node, Untrusted: f.Untrusted,
			}})
		}
		packed.Items = append(packed.Items, item)
	}
	for _, key := range t.order {
		old := t.taken[key]
		if offered[key] || old.version == "" {
			continue
		}
		packed.Items = append(packed.Items, event.PackedItem{Source: old.source, Name: old.name, Reason: "gone", Choice: "exclude"})
		if cause != "" && old.place == PlaceHead {
			continue // the head that is taken anew is without it
		}
		taken = append(taken, event.Draft{Data: event.ContextTaken{
			Source: old.source, Name: old.name, Place: PlaceHere, Reason: "gone", Supersedes: old.node,
			Text: "This text is gone; it no longer applies.",
		}})
	}
	drafts := append([]event.Draft{{Data: packed}}, taken...)
	if cause != "" {
		want.Cause = cause
		want.Fragments = t.headFragments(offers)
		drafts = append(drafts, event.Draft{Data: want})
	}
	return drafts
}
