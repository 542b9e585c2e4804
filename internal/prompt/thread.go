package prompt

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"overt/internal/event"
	"overt/internal/llm"
)

// Thread is the fold of a path. It keeps the messages it has made, so that a build costs only what is new. The zero
// value is the empty thread.
type Thread struct {
	leaf     event.Seq
	headNode event.Seq
	head     *event.ContextHead
	system   []llm.Block
	tools    []llm.ToolSpec
	taken    map[string]taken // by SOURCE/NAME, the newest
	order    []string         // keys of taken, in the order they first came

	messages []llm.Message   // closed: nothing is ever put before their end again
	batch    []slot          // calls of the last assistant message, in call order
	person   int             // 1 + index of the last message, while fragments may still go before its text
	ids      map[string]bool // call ids in use
	attached map[string]bool // owners of pictures that tools have read
	left     bool            // the model's server takes no pictures
	counted  int             // messages whose tokens are in tokens
	tokens   int
	repairs  []Repair
}

// taken is the newest text of one name.
type taken struct {
	source, name, version, place string
	node                         event.Seq
	text                         string
}

// slot is a call and its result, once there is one.
type slot struct {
	call   event.ToolCall
	id     string // the id that requests use
	name   string
	result *llm.Message
	images []event.Image // that came with the result
}

// Repair is a place where the history broke the pairing rule of the protocols, mended in requests, never in the record.
type Repair struct {
	Kind string    // missing_result, orphan_result
	Node event.Seq // the message or result at fault
}

// Leaf is the last node applied.
func (t *Thread) Leaf() event.Seq { return t.leaf }

// HeadNode is the context.head in force, 0 if there is none.
func (t *Thread) HeadNode() event.Seq { return t.headNode }

// Open lists the calls without an outcome, in call order.
func (t *Thread) Open() []event.ToolCall {
	var out []event.ToolCall
	for _, s := range t.batch {
		if s.result == nil {
			out = append(out, s.call)
		}
	}
	return out
}

// Apply folds the next node of the path. Facts of other kinds are ignored.
func (t *Thread) Apply(f event.Fact) {
	if !f.Kind.Node() {
		return
	}
	t.leaf = f.Seq
	switch p := f.Data.(type) {
	case event.ContextTaken:
		t.applyTaken(f.Seq, p)
	case event.ContextHead:
		t.applyHead(f.Seq, p)
	case event.MessageAdded:
		t.applyMessage(f.Seq, p)
	case event.ToolCompleted:
		t.applyResult(f, p)
	case event.PicturesLeft:
		t.left = true
	}
}

func (t *Thread) applyTaken(node event.Seq, p event.ContextTaken) {
	key := p.Source + "/" + p.Name
	if t.taken == nil {
		t.taken = map[string]taken{}
	}
	if _, known := t.taken[key]; !known {
		t.order = append(t.order, key)
	}
	t.taken[key] = taken{p.Source, p.Name, p.Version, p.Place, node, p.Text}
	if p.Place == PlaceHead {
		return
	}
	text := fragmentText(p.Source, p.Name, p.Text)
	if p.Supersedes != 0 {
		text = "(This replaces the earlier text of the same name.)\n" + text
	}
	block := llm.Block{Type: llm.Text, Owner: owner(node), Text: text}
	if t.person == 0 {
		t.closeBatch()
		t.messages = append(t.messages, llm.Message{Role: llm.User, Blocks: []llm.Block{block}, Key: owner(node)})
		return
	}
	m := &t.messages[t.person-1]
	m.Blocks = slices.Insert(m.Blocks, len(m.Blocks)-1, block) // before the person's text, after earlier fragments
	m.Key += "+" + owner(node)
}

// fragmentText marks where a text begins and ends. No content ends its own mark.
func fragmentText(source, name, text string) string {
	if source == SourceSystem {
		return text
	}
	end := "[end " + name + "]"
	return "[" + source + " " + name + "]\n" + strings.ReplaceAll(text, end, "[end (quoted)]") + "\n" + end
}

func (t *Thread) applyHead(node event.Seq, p event.ContextHead) {
	if h := t.head; h != nil && (h.Provider != p.Provider || h.Protocol != p.Protocol || h.Model != p.Model) {
		t.left = false // it was said of another model
	}
	t.headNode, t.head = node, &p
	t.system, t.tools = nil, nil
	maps.DeleteFunc(t.taken, func(key string, f taken) bool { return f.place == PlaceHead && !slices.Contains(p.Fragments, key) })
	t.order = slices.DeleteFunc(t.order, func(key string) bool { _, known := t.taken[key]; return !known })
	for _, key := range p.Fragments {
		f := t.taken[key]
		t.system = append(t.system, llm.Block{Type: llm.Text, Owner: owner(f.node), Text: fragmentText(f.source, f.name, f.text)})
	}
	for _, s := range p.Tools {
		t.tools = append(t.tools, llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema, Owner: owner(node) + "/" + s.Name})
	}
}

func (t *Thread) applyMessage(node event.Seq, p event.MessageAdded) {
	t.closeBatch()
	t.person = 0
	m := llm.Message{Role: llm.Role(p.Role), Key: owner(node)}
	for i, b := range p.Blocks {
		switch {
		case b.Type == string(llm.Call) && b.Call != nil:
			s := slot{call: *b.Call, id: t.wireID(*b.Call), name: wireName(b.Call.Name)}
			t.batch = append(t.batch, s)
			m.Blocks = append(m.Blocks, llm.Block{
				Type: llm.Call, Owner: owner(node), Opaque: b.Opaque, Origin: b.Origin,
				Call: &llm.ToolCall{ID: s.id, Name: s.name, Arguments: wireArgs(b.Call.Args)},
			})
		case b.Image != nil:
			m.Blocks = append(m.Blocks, picture(owner(node), *b.Image))
		case b.Text != "" || b.Carrier != "":
			m.Blocks = append(m.Blocks, llm.Block{
				Type: llm.BlockType(b.Type), Owner: owner(node), Text: p.Blocks[i].Text, Carrier: b.Carrier, Opaque: b.Opaque, Origin: b.Origin,
			})
		}
	}
	if !slices.ContainsFunc(m.Blocks, func(b llm.Block) bool {
		return b.Call != nil || b.Image != nil || b.Type == llm.Text && strings.TrimSpace(b.Text) != ""
	}) {
		return // nothing that may stand alone in a request: reasoning, or white space, before an answer that never came
	}
	t.messages = append(t.messages, m)
	if p.Role == string(llm.User) {
		t.person = len(t.messages)
	}
}

func (t *Thread) applyResult(f event.Fact, p event.ToolCompleted) {
	for i := range t.batch {
		s := &t.batch[i]
		if s.call.ID != f.Subject || s.result != nil {
			continue
		}
		s.result, s.images = resultMessage(owner(f.Seq), s.id, s.name, resultText(f.Subject, p)), p.Images
		return
	}
	t.repairs = append(t.repairs, Repair{"orphan_result", f.Seq})
}

// closeBatch puts the results of the last assistant message after it, in call order, and answers for the runtime where
// one is missing: the protocols refuse a call without a result. Then come the pictures of these results.
func (t *Thread) closeBatch() {
	if len(t.batch) > 0 {
		msgs, repairs := t.results()
		t.attach()
		t.messages = append(t.messages, msgs...)
		t.repairs = append(t.repairs, repairs...)
		t.batch = nil
	}
}

func (t *Thread) results() (msgs []llm.Message, repairs []Repair) {
	for _, s := range t.batch {
		m := s.result
		if m == nil {
			m = resultMessage("", s.id, s.name, "No result of this call is known. Do not assume that it ran or that it did not.")
			repairs = append(repairs, Repair{"missing_result", t.leaf})
		}
		msgs = append(msgs, *m)
	}
	if m := t.pictures(); m != nil {
		msgs = append(msgs, *m)
	}
	return msgs, repairs
}

func resultMessage(own, id, name, text string) *llm.Message {
	return &llm.Message{Role: llm.Tool, Key: own, Blocks: []llm.Block{{
		Type: llm.Result, Owner: own, Result: &llm.ToolResult{ID: id, Name: name, Content: text},
	}}}
}

// dataMark begins what the model is to take for data.
const dataMark = "[data "

// resultText is what the model reads of a result. Text from files, commands or the network stands between marks that
// carry the call's id, which nothing written before the call can know; where the text holds the closing mark all the
// same, that is broken, so that no content ends its wrapper.
func resultText(id string, p event.ToolCompleted) string {
	text := p.Content
	if text == "" {
		text = "(no output)"
	}
	if p.Trusted {
		return text
	}
	end := "[end data " + id + "]"
	return dataMark + id + "]\n" + strings.ReplaceAll(text, end, "[end data (quoted)]") + "\n" + end
}

// headCause says why the head must be taken anew, or "".
func (t *Thread) headCause(want event.ContextHead, offers []Fragment) string {
	switch h := t.head; {
	case h == nil:
		return "first"
	case h.Provider != want.Provider || h.Protocol != want.Protocol || h.Model != want.Model || !bytes.Equal(h.Params, want.Params):
		return "model"
	case !slices.EqualFunc(h.Tools, want.Tools, func(a, b event.ToolSpec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}):
		return "tools"
	}
	for _, f := range offers {
		if old, known := t.taken[f.Source+"/"+f.Name]; f.Source == SourceSystem && (!known || old.version != f.Version) {
			return "system"
		}
	}
	return ""
}

// headFragments orders what the system prompt consists of: offered texts meant for the head, by priority.
func (t *Thread) headFragments(offers []Fragment) []string {
	heads := slices.DeleteFunc(slices.Clone(offers), func(f Fragment) bool { return f.Place != PlaceHead })
	slices.SortStableFunc(heads, func(a, b Fragment) int { return cmp.Compare(b.Priority, a.Priority) })
	out := []string{}
	for _, f := range heads {
		out = append(out, f.Source+"/"+f.Name)
	}
	return out
}

func owner(node event.Seq) string { return strconv.FormatInt(int64(node), 10) }

// plain puts _ in the place of every character that some protocol does not take in an id or a name. No pattern:
// compiling them at each start takes 0.2 ms.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}

// wireID gives the id that requests use for a call: the one that the server gave, if every protocol takes it and the
// thread has not used it, else one derived from ours. Never a random one: the prefix must hold.
func (t *Thread) wireID(c event.ToolCall) string {
	if t.ids == nil {
		t.ids = map[string]bool{}
	}
	id := c.Given
	if id == "" || len(id) > 40 || plain(id) != id || t.ids[id] {
		id = plain(c.ID)
		id = id[max(0, len(id)-36):]
		for base, n := id, 2; t.ids[id]; n++ {
			id = base + "_" + strconv.Itoa(n)
		}
	}
	t.ids[id] = true
	return id
}

// wireName makes a name that servers accept in a history, also for a tool that does not exist.
func wireName(name string) string {
	name = plain(name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}
