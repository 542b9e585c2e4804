package cli

import (
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/i18n"
)

// shownPictures is how the pictures of a message or result are shown, a line each: their bytes are nothing to read.
func shownPictures(d event.Payload) string {
	var b strings.Builder
	for _, i := range event.Images(d) {
		fmt.Fprintf(&b, "[%s, %s kB, sha256 %.12s, %s]\n", i.Media, i18n.Number((i.Bytes+999)/1000), i.Hash, i.Name)
	}
	return b.String()
}

// leftOut says that requests go without pictures.
func (v *textView) leftOut(d event.PicturesLeft) {
	count := v.p.plural("image.count", d.Count)
	if d.Reason == "" {
		v.note(v.p.say.Say("image.known", count))
		return
	}
	v.note(v.p.say.Say("image.left", d.Reason, count))
}
