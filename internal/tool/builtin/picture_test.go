package builtin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool/builtin"
	"overt/internal/workspace"
)

// pictures has one of each form, of 3 x 2 pixels but for WebP, by the ending of its name.
func pictures(t testing.TB) map[string]string {
	t.Helper()
	of := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if err := errors.Join(png.Encode(&p, of), jpeg.Encode(&j, of, nil), gif.Encode(&g, of, nil)); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"png": p.String(), "jpg": j.String(), "gif": g.String()}
	for name, text := range map[string]string{
		"vp8.webp":  "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=",
		"vp8l.webp": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
		"vp8x.webp": base64.StdEncoding.EncodeToString([]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00")),
	} {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

// covers L214
func TestSniff(t *testing.T) {
	all := pictures(t)
	for name, want := range map[string]builtin.Picture{
		"png": {Media: "image/png", Width: 3, Height: 2}, "jpg": {Media: "image/jpeg", Width: 3, Height: 2}, "gif": {Media: "image/gif", Width: 3, Height: 2},
		"vp8.webp": {Media: "image/webp", Width: 1, Height: 1}, "vp8l.webp": {Media: "image/webp", Width: 1, Height: 1}, "vp8x.webp": {Media: "image/webp", Width: 3, Height: 2},
	} {
		if got, err := builtin.Sniff([]byte(all[name])); got != want || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// Two frames with colours of their own, a comment, and something behind the end.
	of := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White, color.Opaque})
	var g bytes.Buffer
	if err := gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{of, of}, Delay: []int{1, 1}, Config: image.Config{Width: 30, Height: 20}}); err != nil {
		t.Fatal(err)
	}
	all["frames"] = strings.TrimSuffix(g.String(), ";") + "\x21\xfe\x03;;;\x00;"
	if got, err := builtin.Sniff([]byte(all["frames"] + "more")); got != (builtin.Picture{Media: "image/gif", Width: 30, Height: 20}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	// One that is cut off is found wherever its form tells.
	for _, name := range []string{"png", "jpg", "gif", "frames", "vp8.webp", "vp8l.webp", "vp8x.webp"} {
		for n := range len(all[name]) {
			if _, err := builtin.Sniff([]byte(all[name][:n])); err == nil {
				t.Errorf("%s is taken when %d of %d bytes are there", name, n, len(all[name]))
			}
		}
	}
	flipped := []byte(all["png"])
	flipped[len(flipped)/2] ^= 1
	for want, data := range map[string]string{
		"it is empty": "", "it is text": "# how to\n", "it is no PNG, JPEG, GIF or WebP": "%PDF-1.7\x00\xff", "image/png, but is damaged": string(flipped),
		"image/gif, but": "GIF89a", "image/gif, but is": "GIF89a\x01\x00\x01\x00\x00\x00\x00;", "image/png, but": all["png"][:33] + all["png"][len(all["png"])-12:], "image/webp, but": "RIFF\x00\x00\x00\x00WEBP", "image/jpeg, but": "\xff\xd8\xff\xe0",
	} {
		_, err := builtin.Sniff([]byte(data))
		var bad *builtin.PictureError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || bad.Text != (want == "it is text") {
			t.Errorf("%.10q: %v, want %s", data, err, want)
		}
	}
}

// FuzzSniff: whatever the bytes, they are a picture with a size, or none.
func FuzzSniff(f *testing.F) {
	for _, s := range pictures(f) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := builtin.Sniff(data)
		if err == nil && (p.Width <= 0 || p.Height <= 0 || !strings.HasPrefix(p.Media, "image/")) {
			t.Errorf("%+v", p)
		}
	})
}

func TestRefusePictures(t *testing.T) {
	l := builtin.Pictures{One: 3 << 20, All: 8 << 20, Count: 3, Side: 100}
	for _, c := range []struct {
		want           string
		side           int
		bytes          int64
		n              int
		encoded, total int64
	}{
		{"", 100, 3 << 20, 2, 4 << 20, 0},
		{"it has 3.1 MB, and the model's server takes 3.0 MB at most", 1, 3<<20 + 100_000, 0, 0, 0},
		{"it has 1 x 101 pixels, and the model's server takes 100 a side at most", 101, 1, 0, 0, 0},
		{"the task has 3 pictures", 1, 1, 3, 0, 0},
		{"with it the pictures of the task have 8.0 MB as they are sent", 1, 3 << 20, 1, 4<<20 + 1, 0},
	} {
		if got := l.Refuse(builtin.Picture{Width: 1, Height: c.side}, c.bytes, c.n, c.encoded); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for n, want := range map[int64]int64{0: 0, 1: 4, 3: 4, 4: 8, 300: 400} {
		if got := builtin.Encoded(n); got != want || got != int64(base64.StdEncoding.EncodedLen(int(n))) {
			t.Errorf("%d bytes are %d", n, got)
		}
	}
}

// TestReadImage: the bytes decide, not the name; what is refused is told in a line and brings no picture.
//
// covers L102 L195
func TestReadImage(t *testing.T) {
	all := pictures(t)
	b := setUp(t, map[string]string{
		"a.png": all["png"], "named.txt": all["jpg"], "text.png": "not a picture\n", "data.bin": "\x00\x01\x02", "cut.png": all["png"][:40], "empty.png": "",
		"large.gif": all["gif"] + strings.Repeat("\x00", 2000), "link.png": "-> a.png", "out.png": "-> ../../x.png", "dir/": "",
	})
	n, encoded := 0, int64(0)
	b.look = builtin.Looking{
		Pictures: builtin.Pictures{One: 1500, All: 4000, Count: 2},
		Have:     func(context.Context) (int, int64, error) { return n, encoded, nil },
	}
	r := b.must("read_image", args{"path": "a.png"})
	want := event.Image{Hash: workspace.Sum([]byte(all["png"])), Media: "image/png", Bytes: int64(len(all["png"])), Name: "a.png"}
	if len(r.Images) != 1 || string(r.Images[0].Data) != all["png"] || r.Trusted {
		t.Fatalf("%+v", r)
	}
	got := r.Images[0]
	if got.Data = nil; got.Hash != want.Hash || got.Media != want.Media || got.Bytes != want.Bytes || got.Name != want.Name {
		t.Errorf("%+v", got)
	}
	if !strings.HasPrefix(r.Content, "a.png: png, 3 x 2 pixels, ") || !strings.Contains(r.Content, " bytes. It is shown after") {
		t.Error(r.Content)
	}
	if r := b.must("read_image", args{"path": "named.txt"}); r.Images[0].Media != "image/jpeg" {
		t.Errorf("%+v", r.Images[0])
	}
	b.must("read_image", args{"path": "link.png"})
	for path, want := range map[string][]string{
		"text.png": {"not_a_picture", "text.png is no picture: it is text, not PNG, JPEG, GIF or WebP; read it with read_file"},
		"data.bin": {"not_a_picture", "no PNG, JPEG, GIF or WebP"}, "cut.png": {"not_a_picture", "damaged or cut off"}, "empty.png": {"not_a_picture", "it is empty"},
		"large.gif": {"too_large", "large.gif was not taken: it is larger than 0.0 MB", "smaller copy"},
		"none.png":  {"not_found", "list_files"}, "out.png": {"outside"}, "dir": {"not_regular"},
	} {
		_, err := b.call("read_image", args{"path": path})
		b.refused(err, want[0], want[1:]...)
	}
	n = 2
	_, err := b.call("read_image", args{"path": "a.png"})
	b.refused(err, "too_large", "the task has 2 pictures")
	n, encoded = 1, 3990
	_, err = b.call("read_image", args{"path": "a.png"})
	b.refused(err, "too_large", "at most")
	b.look.Have = func(context.Context) (int, int64, error) { return 0, 0, builtin.ErrLeft }
	_, err = b.call("read_image", args{"path": "a.png"})
	b.refused(err, "not_shown", "refused pictures of this task")
}

// TestReadImageAsks: a picture of the workspace is read unasked, what may be secret is not, and a rule on read_file is one on the file.
//
// covers L222
func TestReadImageAsks(t *testing.T) {
	all := pictures(t)
	b := setUp(t, map[string]string{"a.png": all["png"], ".env": all["png"], "id.png": "-> .env", "private/b.png": all["png"]})
	deny, err := policy.ParseRule(policy.Deny, "read_file(private/**)")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]policy.Verdict{"a.png": policy.Allow, ".env": policy.Ask, "id.png": policy.Ask, "private/b.png": policy.Deny} {
		p, err := b.prepare("read_image", args{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		if d := policy.Decide(policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{deny}}, p.Action); d.Verdict != want {
			t.Errorf("%s: %s, want %s", path, d.Verdict, want)
		}
		if p.Parallel {
			t.Error("calls run at once: each must count what the one before has brought")
		}
	}
}
