package builtin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// Picture is what the bytes of a picture say of it.
type Picture struct {
	Media         string // image/png, image/jpeg, image/gif, image/webp
	Width, Height int    // pixels
}

// PictureError says why some bytes are no picture that models take. Text says that they are text.
type PictureError struct {
	Why  string
	Text bool
}

// Error implements error.
func (e *PictureError) Error() string { return e.Why }

// Sniff tells what a picture is by its bytes, whatever its name, in one of the forms that all model servers know. One that is cut
// off, or was never whole, is an error: a server that gets it refuses the whole request. Nothing is decoded, so no picture can
// ask for much memory. The error is a *[PictureError].
//
// Sources: PNG (W3C, third edition), JPEG (ITU-T T.81), GIF89a, WebP (RFC 9649).
func Sniff(data []byte) (Picture, error) {
	p, ok := Picture{}, false
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		p.Media = "image/png"
		p.Width, p.Height, ok = png(data)
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		p.Media = "image/jpeg"
		p.Width, p.Height, ok = jpeg(data)
	case bytes.HasPrefix(data, []byte("GIF87a")) || bytes.HasPrefix(data, []byte("GIF89a")):
		p.Media = "image/gif"
		p.Width, p.Height, ok = gif(data)
	case bytes.HasPrefix(data, []byte("RIFF")) && len(data) >= 12 && string(data[8:12]) == "WEBP":
		p.Media = "image/webp"
		p.Width, p.Height, ok = webp(data)
	case len(data) == 0:
		return p, &PictureError{Why: "it is empty"}
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return p, &PictureError{Why: "it is text, not PNG, JPEG, GIF or WebP", Text: true}
	default:
		return p, &PictureError{Why: "it is no PNG, JPEG, GIF or WebP"}
	}
	if !ok || p.Width <= 0 || p.Height <= 0 {
		return p, &PictureError{Why: "it begins as " + p.Media + ", but is damaged or cut off"}
	}
	return p, nil
}

// png walks the chunks up to the last, and wants pixels among them.
func png(data []byte) (w, h int, ok bool) {
	pixels := false
	for at := 8; len(data)-at >= 12; {
		n := binary.BigEndian.Uint32(data[at:])
		if uint64(n) > uint64(len(data)-at-12) {
			return 0, 0, false
		}
		end := at + 8 + int(n)
		kind, body := string(data[at+4:at+8]), data[at+8:end]
		if crc32.ChecksumIEEE(data[at+4:end]) != binary.BigEndian.Uint32(data[end:]) {
			return 0, 0, false
		}
		switch {
		case at == 8 && (kind != "IHDR" || n != 13):
			return 0, 0, false
		case at == 8:
			w, h = int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
		case kind == "IDAT":
			pixels = true
		case kind == "IEND":
			return w, h, pixels
		}
		at = end + 4
	}
	return 0, 0, false
}

// jpeg walks the segments up to the first scan, and wants an end after it.
func jpeg(data []byte) (w, h int, ok bool) {
	for at := 2; len(data)-at >= 4; {
		if data[at] != 0xff {
			return 0, 0, false
		}
		kind := data[at+1]
		if kind == 0xff { // padding
			at++
			continue
		}
		n := int(binary.BigEndian.Uint16(data[at+2:]))
		if n < 2 || n > len(data)-at-2 {
			return 0, 0, false
		}
		switch {
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc: // a frame
			if n < 8 {
				return 0, 0, false
			}
			h, w = int(binary.BigEndian.Uint16(data[at+5:])), int(binary.BigEndian.Uint16(data[at+7:]))
		case kind == 0xda:
			return w, h, bytes.Contains(data[at:], []byte("\xff\xd9"))
		}
		at += 2 + n
	}
	return 0, 0, false
}

// gif walks the blocks up to the last, and wants an image among them.
func gif(data []byte) (w, h int, ok bool) {
	const head, descriptor = 13, 10
	if len(data) < head {
		return 0, 0, false
	}
	w, h = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	colours := func(packed byte) int { // how many bytes of colours follow
		if packed&0x80 == 0 {
			return 0
		}
		return 3 << (packed&7 + 1)
	}
	at, pixels := head+colours(data[10]), false
	for at < len(data) {
		switch data[at] {
		case 0x21: // an extension: its kind, and pieces
			at += 2
		case 0x2c: // an image: its place and colours, the size of its codes, and pieces
			if len(data)-at < descriptor {
				return 0, 0, false
			}
			at += descriptor + colours(data[at+9]) + 1
			pixels = true
		case 0x3b:
			return w, h, pixels
		default:
			return 0, 0, false
		}
		for at < len(data) && data[at] != 0 { // each piece has its length before it, and an empty one is the last
			at += 1 + int(data[at])
		}
		at++
	}
	return 0, 0, false
}

// webp reads the first chunk of the three forms.
func webp(data []byte) (w, h int, ok bool) {
	if len(data) < 30 || uint64(binary.LittleEndian.Uint32(data[4:]))+8 > uint64(len(data)) {
		return 0, 0, false
	}
	b := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff), bytes.Equal(b[3:6], []byte("\x9d\x01\x2a"))
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, b[0] == 0x2f
	case "VP8X":
		return 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16, 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16, true
	}
	return 0, 0, false
}

// Pictures is what a model's server takes, with the fields of package provider's PictureLimits, which tools must not know.
type Pictures struct {
	One   int64 // bytes of a picture
	All   int64 // bytes of all pictures of a request, after base64
	Count int   // pictures of a request
	Side  int   // pixels of the longer side; 0: no limit is known
}

// Encoded is how many bytes of base64 give so many bytes.
func Encoded(bytes int64) int64 { return (bytes + 2) / 3 * 4 }

// Refuse says in a sentence why a picture can't be sent beside others, of which there are n with so many bytes after base64;
// "": it can.
func (l Pictures) Refuse(p Picture, bytes int64, n int, encoded int64) string {
	switch {
	case bytes > l.One:
		return fmt.Sprintf("it has %s, and the model's server takes %s at most", megabytes(bytes), megabytes(l.One))
	case l.Side > 0 && max(p.Width, p.Height) > l.Side:
		return fmt.Sprintf("it has %d x %d pixels, and the model's server takes %d a side at most", p.Width, p.Height, l.Side)
	case n >= l.Count:
		return fmt.Sprintf("the task has %d pictures, and the model's server takes no more in a request", n)
	case encoded+Encoded(bytes) > l.All:
		return fmt.Sprintf("with it the pictures of the task have %s as they are sent, and the model's server takes %s at most", megabytes(encoded+Encoded(bytes)), megabytes(l.All))
	}
	return ""
}

// megabytes writes a size so that two that differ little still do.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
