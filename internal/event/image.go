package event

import (
	"bytes"
	"encoding/json"
)

// Images gives the pictures that a payload names.
func Images(p Payload) []Image {
	switch p := p.(type) {
	case MessageAdded:
		var out []Image
		for _, b := range p.Blocks {
			if b.Image != nil {
				out = append(out, *b.Image)
			}
		}
		return out
	case ToolCompleted:
		return p.Images
	}
	return nil
}

// Pictures gives the hashes of the pictures that a stored payload of any kind names.
func Pictures(data []byte) []string {
	if !bytes.Contains(data, []byte(`{"hash":"`)) {
		return nil
	}
	var p struct {
		Blocks []struct{ Image *Image }
		Images []Image
	}
	_ = json.Unmarshal(data, &p) // what has another form names none
	var out []string
	for _, b := range p.Blocks {
		if b.Image != nil {
			out = append(out, b.Image.Hash)
		}
	}
	for _, i := range p.Images {
		out = append(out, i.Hash)
	}
	return out
}
