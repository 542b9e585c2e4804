package workspace

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

const (
	// sampled is how many bytes of lines with more than ASCII are looked at to tell encodings apart.
	sampled = 64 << 10
	// leastUsual is the mean weight of characters below which a text is no text of an encoding.
	leastUsual = 0.75

	shiftJIS = "Shift-JIS"
)

// legacy is an encoding with two bytes for most characters that are not ASCII.
type legacy struct {
	Encoding
	// frequent are the most frequent characters of its language.
	frequent string
	// first tells whether two bytes are a character of its first level: those that are in daily use.
	first func(lead, trail byte) bool
}

// legacies are the encodings in the order in which they are taken where texts are equally usual in several: by the number
// of files. First levels are those of GB 2312, Big5, JIS X 0208 (with its kana) and KS X 1001 (its Hangul).
func legacies() []legacy {
	const (
		chinese     = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实件数据文字名称设置请输入错误用户"
		traditional = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實件數據文字名稱設置請輸入錯誤用戶"
		japaneseSet = "のにはをたがでてとしれさいるなもかっらこすりあよまんアンスルトリクイドラレコタシフローメッ日本語人年大中会一時行見月分後前生出上事入力名文字設定"
		koreanSet   = "이다는을의에가고하지한도로리기사어자를대은시나인아서해일그으정스수있과라들보제부여전장오주구니것만안조세유없성동우마명문적요상신내당게러건입력"
	)
	gb := func(lead, trail byte) bool { return lead >= 0xB0 && lead <= 0xD7 && trail >= 0xA1 }
	return []legacy{
		{Encoding{name: "GBK", codec: simplifiedchinese.GBK}, chinese, gb},
		{Encoding{name: "GB18030", codec: simplifiedchinese.GB18030}, chinese, gb},
		{Encoding{name: "Big5", codec: traditionalchinese.Big5}, traditional, func(lead, _ byte) bool { return lead >= 0xA4 && lead <= 0xC6 }},
		{Encoding{name: shiftJIS, codec: japanese.ShiftJIS}, japaneseSet, func(lead, trail byte) bool {
			return lead >= 0x88 && lead <= 0x98 || lead == 0x82 && trail >= 0x9F || lead == 0x83 && trail <= 0x96
		}},
		{Encoding{name: "EUC-JP", codec: japanese.EUCJP}, japaneseSet, func(lead, _ byte) bool {
			return lead == 0xA4 || lead == 0xA5 || lead >= 0xB0 && lead <= 0xCF
		}},
		{Encoding{name: "EUC-KR", codec: korean.EUCKR}, koreanSet, func(lead, _ byte) bool { return lead >= 0xB0 && lead <= 0xC8 }},
	}
}

// plausible gives the encodings in which a sample of the data is usual text, the most usual first.
func plausible(data []byte) []Encoding {
	type candidate struct {
		Encoding
		usual float64
	}
	sample := sample(data)
	var all []candidate
	for _, l := range legacies() {
		if text, ok := l.exactly(sample); ok {
			if u := l.usual(sample, text); u >= leastUsual {
				all = append(all, candidate{l.Encoding, u})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.usual, a.usual) })
	var out []Encoding
	for _, c := range all {
		out = append(out, c.Encoding)
	}
	return out
}

// sample gives lines that hold more than ASCII. No encoding of these has LF inside a character.
func sample(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if len(out) > 0 && len(out)+len(line) > sampled {
			break
		}
		if bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			out = append(out, line...)
		}
	}
	return out
}

// usual weighs the characters of a decoded text: 2 for a frequent one, 1 for one of the first level, ½ for a narrow kana,
// 0 for others and for any that stands alone among ASCII, as an accented letter of Windows-1252 does; punctuation does not
// count. It gives the mean.
func (l legacy) usual(data, text []byte) float64 {
	sum, n := 0.0, 0
	alone := true // the character before is ASCII
	for len(data) > 0 && len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		width := min(l.width(data), len(data))
		text = text[size:]
		if r < utf8.RuneSelf {
			data, alone = data[width:], true
			continue
		}
		lead, trail := data[0], data[width-1]
		data = data[width:]
		next := len(text) > 0 && text[0] >= utf8.RuneSelf
		isolated := alone && !next
		alone = false
		switch narrow := r >= 0xFF66 && r <= 0xFF9F; {
		case isolated:
		case punctuation(r) && !narrow:
			continue
		case strings.ContainsRune(l.frequent, r):
			sum += 2
		case width == 2 && l.first(lead, trail):
			sum++
		case narrow:
			sum += 0.5
		}
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func punctuation(r rune) bool {
	return r >= 0x2000 && r < 0x2400 || r >= 0x3000 && r < 0x3040 || r >= 0xFF00 && r < 0xFFF0
}

// width is how many bytes the character at the start of valid data has.
func (l legacy) width(data []byte) int {
	c := data[0]
	switch {
	case c <= 0x80 || len(data) == 1:
		return 1
	case l.name == shiftJIS && c >= 0xA1 && c <= 0xDF:
		return 1
	case l.name == "EUC-JP" && c == 0x8F:
		return 3
	case l.name == "GB18030" && data[1] >= '0' && data[1] <= '9':
		return 4
	}
	return 2
}

// likeWindows rewrites Shift-JIS so that a character which NEC (0xED, 0xEE) and IBM (0xFA to 0xFC) both have a code for
// gets IBM's, as Windows and the Encoding Standard (Shift_JIS encoder) write it, and golang.org/x/text does not.
func likeWindows(data []byte) {
	var ibm map[[2]byte][2]byte
	for i := 0; i+1 < len(data); i++ {
		c := data[i]
		if c <= 0x80 || c >= 0xA0 && c <= 0xDF {
			continue
		}
		if c == 0xED || c == 0xEE {
			if ibm == nil {
				ibm = doubles()
			}
			if to, ok := ibm[[2]byte(data[i:i+2])]; ok {
				copy(data[i:], to[:])
			}
		}
		i++
	}
}

// doubles gives IBM's code for each of NEC's.
func doubles() map[[2]byte][2]byte {
	out := map[[2]byte][2]byte{}
	for lead := byte(0xFA); lead <= 0xFC; lead++ {
		for trail := 0x40; trail <= 0xFC; trail++ {
			ibm := [2]byte{lead, byte(trail)}
			text, err := japanese.ShiftJIS.NewDecoder().Bytes(ibm[:])
			if err != nil {
				continue
			}
			if nec, err := japanese.ShiftJIS.NewEncoder().Bytes(text); err == nil && len(nec) == 2 && nec[0] != lead {
				if _, double := out[[2]byte(nec)]; !double {
					out[[2]byte(nec)] = ibm
				}
			}
		}
	}
	return out
}
