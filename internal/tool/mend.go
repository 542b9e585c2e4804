package tool

import "bytes"

// mend repairs what models get wrong in the syntax of JSON and what has one reading all the same: a fence of Markdown
// around it, control characters in a string that are not escaped, a comma before a closing bracket. It closes nothing:
// what is not whole stays so, and can't be taken for what was meant.
func mend(text []byte) []byte {
	text = unfence(text)
	out := make([]byte, 0, len(text)+16)
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text) && text[i+1] < ' ':
			return text // a continued line, or a backslash and a line end: nobody knows
		case inString && c == '\\' && i+1 < len(text):
			out = append(out, c, text[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			out = append(out, escaped(c)...)
			continue
		case !inString && c == ',' && closes(text[i+1:]) && follows(out):
			continue
		}
		out = append(out, c)
	}
	return out
}

// unfence takes the text out of "```json" and "```".
func unfence(text []byte) []byte {
	inner, opened := bytes.CutPrefix(bytes.TrimSpace(text), []byte("```"))
	inner, closed := bytes.CutSuffix(inner, []byte("```"))
	if !opened || !closed {
		return text
	}
	inner = bytes.TrimPrefix(inner, []byte("json"))
	return bytes.TrimSpace(inner)
}

// closes tells whether nothing but white space stands before a closing bracket.
func closes(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '}' || rest[0] == ']')
}

// follows tells whether a value stands before a comma.
func follows(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r\n")
	return len(before) > 0 && !bytes.ContainsRune([]byte("{[,"), rune(before[len(before)-1]))
}

func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[c>>4], hex[c&15]})
}
