package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/i18n"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
	"overt/internal/trace"
	"overt/internal/workspace"
)

var update = flag.Bool("update", false, "write docs/reference anew")

const generated = "\n<!-- Made from the code by `make generate`; a test fails when it drifts. -->\n"

// TestReference compares docs/reference with what the code says.
func TestReference(t *testing.T) {
	for _, doc := range []struct {
		name string
		text func(testing.TB) string
	}{{"cli.md", commandReference}, {"tools.md", toolReference}, {"events.md", eventReference}} {
		t.Run(doc.name, func(t *testing.T) {
			path := filepath.Join("..", "..", "docs", "reference", doc.name)
			want := doc.text(t)
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("docs/reference/%s is not what the code says (%s); run make generate", doc.name, difference(string(got), want))
			}
		})
	}
}

// difference names the first line that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			return fmt.Sprintf("line %d should be %q", i+1, w[i])
		}
	}
	return fmt.Sprintf("line %d should be the last", len(w))
}

// commandReference shows every command with its flags.
func commandReference(t testing.TB) string {
	p := &program{say: i18n.New("en")}
	root := p.root()
	root.InitDefaultCompletionCmd()
	var b strings.Builder
	b.WriteString("# Commands\n" + generated)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		c.InitDefaultHelpFlag()
		use := strings.TrimSpace(strings.TrimPrefix(c.UseLine(), c.CommandPath()))
		use = strings.TrimSpace(strings.TrimSuffix(use, "[flags]"))
		text := c.Long
		if text == "" {
			text = c.Short
		}
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n\n%s\n", c.CommandPath(), strings.TrimSpace(c.CommandPath()+" "+use), strings.TrimSpace(text))
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", c.Example)
		}
		c.InheritedFlags() // puts them among the flags
		_, hidden := c.Annotations[taskFlags]
		if hidden {
			hideTaskFlags(c)
		}
		fmt.Fprintf(&b, "\n```\n%s```\n", c.Flags().FlagUsages())
		if hidden {
			fmt.Fprintf(&b, "\n%s\n", taskFlags)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	writeForms(t, &b)
	b.WriteString("\n## Settings\n\nEach setting has a key in configuration files, and most have a variable and a flag; a flag is stronger than its variable,\n" +
		"a variable than a file. `overt config schema` prints the JSON Schema of the files. Rules of all layers hold together;\n" +
		"a variable holds one rule a line.\n\n" +
		"| key | variable | flag | value | built in | |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, k := range config.Keys() {
		variable, flag := "", ""
		if k.Flag() != "" {
			variable, flag = "`"+k.Variable()+"`", "`--"+k.Flag()+"`"
		}
		def := ""
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, variable, flag, config.Form(k), def, k.Doc)
	}
	b.WriteString("\n`OVERT_CONFIG` names the file as `--config` does. The key `providers` describes endpoints by name; one with the\n" +
		"name of a preset says only what differs.\n")
	writeEntry(&b)
	b.WriteString("\n## Presets\n\nWhere nothing is configured, the first of these whose variable is set is taken. `--model NAME/MODEL` names one.\n" +
		"A variable's key goes to its own endpoint alone. `OPENAI_BASE_URL` moves the preset `openai`, `OLLAMA_HOST` the preset `ollama`.\n" +
		"\n| preset | variable | endpoint | model, if none is named |\n| --- | --- | --- | --- |\n")
	for _, e := range config.Presets() {
		variable, model := "none, it is local", "the only one listed"
		if !e.Local() {
			variable, model = "`"+e.Variable+"`", "`"+e.Model+"`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", e.Name, variable, e.BaseURL, model)
	}
	return b.String()
}

// writeForms shows what commands give as JSON, one object or a list of them. Keys are only added.
func writeForms(t testing.TB, b *strings.Builder) {
	b.WriteString("\n## JSON of `overt task list`, and the head of `overt task show`\n\n")
	docs := comments(t, filepath.Join("..", "trace", "task.go"))
	b.WriteString("A list of tasks. " + docs["Task"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.Task]())
	docs = comments(t, filepath.Join("..", "trace", "usage.go"))
	b.WriteString("\n## JSON of `overt usage`\n\n" + docs["UsageReport"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.UsageReport]())
	b.WriteString("\n### UsageRow\n\n" + docs["UsageRow"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.UsageRow]())
	b.WriteString("\n### UsageFigure\n\n" + docs["UsageFigure"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.UsageFigure]())
	docs = comments(t, filepath.Join("..", "trace", "cost.go"))
	b.WriteString("\n### Cost\n\n" + docs["Cost"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.Cost]())
	docs = comments(t, filepath.Join("..", "trace", "call.go"))
	b.WriteString("\n## JSON of `overt trace`\n\nA list of calls, or with --call one. " + docs["Call"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.Call]())
	b.WriteString("\n### Usage\n\n" + docs["Usage"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.Usage]())
	docs = comments(t, filepath.Join("..", "trace", "diff.go"))
	b.WriteString("\n### Diff\n\nWith --diff, a list. " + docs["Diff"] + "\n\n")
	writeFields(b, docs, reflect.TypeFor[trace.Diff]())
	for _, f := range []struct {
		command, file string
		types         []reflect.Type // the first is the whole
	}{
		{"models", "models.go", []reflect.Type{reflect.TypeFor[shownModels](), reflect.TypeFor[shownModel](), reflect.TypeFor[shownPrices]()}},
		{"probe", "probe.go", []reflect.Type{reflect.TypeFor[shownProbe](), reflect.TypeFor[shownFinding](), reflect.TypeFor[shownKept]()}},
		{"doctor", "doctor.go", []reflect.Type{reflect.TypeFor[shownDoctor](), reflect.TypeFor[shownCheck]()}},
	} {
		docs := comments(t, f.file)
		for i, typ := range f.types {
			name := strings.TrimPrefix(typ.Name(), "shown")
			said := strings.TrimPrefix(docs[typ.Name()], "shown")
			if i == 0 {
				fmt.Fprintf(b, "\n## JSON of `overt %s`\n\n%s\n\n", f.command, said)
			} else {
				fmt.Fprintf(b, "\n### %s\n\n%s\n\n", name, said)
			}
			writeFields(b, docs, typ)
		}
	}
}

// toolReference shows the core tools: what a model is told, and what policy makes of a typical call.
func toolReference(t testing.TB) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tree, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	typical := map[string]string{
		"read_file":   `{"path":"a.txt"}`,
		"list_files":  `{}`,
		"search_text": `{"pattern":"one"}`,
		"edit_file":   `{"path":"a.txt","old_string":"one","new_string":"two"}`,
		"write_file":  `{"path":"b.txt","content":"two\n"}`,
		"run_command": `{"command":"go test ./..."}`,
		"read_output": `{"id":"out_1-1.1"}`,
		"stop_job":    `{"id":"job_1"}`,
		"update_plan": `{"items":[{"id":"a","text":"Read","state":"active"}]}`,

		"apply_patch": `{"patch":"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"}`,

		"git_status": `{}`,
		"git_diff":   `{}`,
		"git_log":    `{}`,
		"git_add":    `{"paths":["a.txt"]}`,
		"git_commit": `{"message":"Add a"}`,

		"describe_system":     `{}`,
		"read_image":          `{"path":"a.png"}`,
		"stat_path":           `{"path":"a.txt"}`,
		"summarize_workspace": `{}`,
		"read_many_files":     `{"paths":["a.txt"]}`,
	}
	var b strings.Builder
	b.WriteString("# Tools\n" + generated + "\nThe verdicts are those on a plain call in the workspace, without rules. Protected files and secrets ask below `full`;\n" +
		"see the README. `--allow` and `--deny` take the names below.\n\n| tool | effect |")
	for _, profile := range config.Profiles() {
		fmt.Fprintf(&b, " `%s` |", profile)
	}
	b.WriteString(" beside others |\n| --- | --- |" + strings.Repeat(" --- |", len(config.Profiles())+1) + "\n")
	options := builtin.Options{Tree: tree, Shell: shell.NewSession(tree.Root(), nil), Env: shell.Environ(os.Environ()), Look: &builtin.Looking{}}
	tools := builtin.Tools(options, builtin.Sets()...)
	for _, x := range tools {
		name := x.Spec().Name
		p, err := x.Prepare(t.Context(), json.RawMessage(typical[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&b, "| `%s` | %s |", name, effects(p.Action))
		for _, profile := range config.Profiles() {
			fmt.Fprintf(&b, " %s |", policy.Decide(policy.Rules{Profile: policy.Profile(profile)}, p.Action).Verdict)
		}
		fmt.Fprintf(&b, " %s |\n", yes(p.Parallel))
	}
	b.WriteString("\nTools come in sets; `--tools` chooses them. Bytes are what a set adds to each request.\n\n| set | tools | bytes |\n| --- | --- | --- |\n")
	for _, set := range builtin.Sets() {
		var names []string
		bytes := 0
		for _, x := range builtin.Tools(options, set) {
			spec := x.Spec()
			names = append(names, "`"+spec.Name+"`")
			form, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{"name": spec.Name, "description": spec.Description, "parameters": spec.Schema}})
			if err != nil {
				t.Fatal(err)
			}
			bytes += len(form) + 1 // the comma
		}
		fmt.Fprintf(&b, "| %s | %s | %d |\n", set, strings.Join(names, ", "), bytes)
	}
	for _, x := range tools {
		writeTool(t, &b, x)
	}
	return b.String()
}

func effects(a policy.Action) string {
	var out []string
	for _, e := range a.Effects {
		if !slices.Contains(out, string(e.Kind)) {
			out = append(out, string(e.Kind))
		}
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

func writeTool(t testing.TB, b *strings.Builder, x tool.Tool) {
	spec := x.Spec()
	var s jsonschema.Schema
	if err := json.Unmarshal(spec.Schema, &s); err != nil {
		t.Fatalf("schema of %s: %v", spec.Name, err)
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| parameter | type | required | meaning |\n| --- | --- | --- | --- |\n", spec.Name, spec.Description)
	for _, name := range ordered(t, spec.Schema) {
		p := s.Properties[name]
		kind := p.Type
		if p.Items != nil {
			kind += " of " + p.Items.Type
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, kind, yes(slices.Contains(s.Required, name)), cell(p.Description))
	}
}

// ordered gives the names of a schema's properties in the order in which they stand there.
func ordered(t testing.TB, schema json.RawMessage) []string {
	var s struct{ Properties json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	var names []string
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(name))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// cell makes text fit for a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
}

// eventReference shows the kinds of facts and their payloads. Types come from the structs, sentences from their comments.
func eventReference(t testing.TB) string {
	docs := map[string]string{}
	files, err := filepath.Glob(filepath.Join("..", "event", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		maps.Copy(docs, comments(t, f))
	}
	envelope := comments(t, filepath.Join("..", "trace", "trace.go"))
	var b strings.Builder
	b.WriteString("# Events\n" + generated + "\nFacts in their public form: what `--output stream-json` writes, one a line, and what `overt task show --json` lists under\n" +
		"`events`. A node is part of what later requests contain; a barrier is on the disk before what follows it happens.\n\n" +
		envelope["Event"] + "\n\n")
	writeFields(&b, envelope, reflect.TypeFor[trace.Event]())
	writeStream(t, &b)
	b.WriteString("\n# Kinds\n\n| kind | node | barrier | ends a run |\n| --- | --- | --- | --- |\n")
	kinds := event.Kinds()
	nested := map[reflect.Type]bool{}
	for _, k := range kinds {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", k, strings.ReplaceAll(string(k), ".", ""), yes(k.Node()), barrier(payload(t, k)), yes(k.Ends()))
	}
	for _, k := range kinds {
		typ := reflect.TypeOf(payload(t, k))
		fmt.Fprintf(&b, "\n## %s\n\nVersion %d. %s\n", k, k.Version(), said(t, docs, typ.Name()))
		if typ.NumField() > 0 {
			b.WriteString("\n")
			writeFields(&b, docs, typ)
		}
		inside(typ, nested)
	}
	b.WriteString("\n# Values inside payloads\n")
	types := make([]reflect.Type, 0, len(nested))
	for typ := range nested {
		types = append(types, typ)
	}
	slices.SortFunc(types, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	for _, typ := range types {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", typ.Name(), docs[typ.Name()])
		writeFields(&b, docs, typ)
	}
	return b.String()
}

// said is the comment of a type, which every payload has.
func said(t testing.TB, docs map[string]string, name string) string {
	if docs[name] == "" {
		t.Errorf("event.%s has no comment", name)
	}
	return docs[name]
}

// writeStream says what is particular to the lines of stream-json. The examples are what the view writes.
func writeStream(t testing.TB, b *strings.Builder) {
	b.WriteString("\n# The lines of stream-json\n\nThe stream is that of one run: it begins with `run.accepted` (`prev` 0) and ends with the kind that ends the run. So it has\n" +
		"no `session.started`, and no `task.created` of a new task either: that comes before the run. `overt task show --json` has the\nwhole task, all its runs in one chain. With `--input stream-json` runs come one after another, each from `prev` 0.\n\n" +
		"Between the facts there are lines for text while it arrives, `call.delta` for a model's and `tool.delta` for a tool's:\n\n```json\n")
	v := &streamView{p: &program{System: System{Out: b}}}
	for _, d := range []event.Delta{
		{Subject: "cal_06h2l8tero4h1es8c8-1.1", Part: "text", Text: "The test "},
		{Subject: "cal_06h2l8tero4h1es8c8-1.1", Part: "text", From: 9, Text: "fails"},
		{Subject: "tcl_06h2l8tero4h1es8c8-1.1", Part: "output", Text: "ok\n"},
	} {
		if err := v.delta(d); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("```\n\n| field | type | meaning |\n| --- | --- | --- |\n" +
		"| `kind` | string | `call.delta` or `tool.delta`; no kind of fact |\n" +
		"| `subject` | string | the call or tool call whose text it is; its `call.started` or `tool.started` came before |\n" +
		"| `part` | string | `text` or `reasoning` of a call, `output` of a tool call |\n" +
		"| `from` | number | how many characters (code points) of this part were given out before; more than you have: some were lost |\n" +
		"| `text` | string | what is new, masked |\n\n" +
		"Deltas have no `seq` and are not kept. A slow reader loses some, never a fact: a model's text is in `message.added`, and\nwhat the model gets of an output in `tool.completed`.\n")
	writeInput(t, b)
}

// writeInput says what --input stream-json takes. The examples are read as the program reads them.
func writeInput(t testing.TB, b *strings.Builder) {
	b.WriteString("\n# The lines of standard input\n\nWith `--input stream-json` standard input is one JSON object a line, until it ends; then what is under way and what waits is\n" +
		"finished. An input on the command line comes first. All are of one task.\n\n```json\n")
	for _, example := range []string{
		`{"type":"input","text":"and now the docs"}`, `{"type":"steer","text":"leave the tests as they are"}`,
		`{"type":"decision","question":"qst_06h2l8tero4h1es8c8-1.1","choice":"yes"}`, `{"type":"stop"}`,
	} {
		if _, err := readLine([]byte(example)); err != nil {
			t.Fatal(err)
		}
		b.WriteString(example + "\n")
	}
	b.WriteString("```\n\n| type | what it does |\n| --- | --- |\n" +
		"| `input` | is a turn of its own: at once, or after what is under way and what waits before it |\n" +
		"| `steer` | joins the turn that is under way at its next step; if there is none, it is an input |\n" +
		"| `decision` | answers the question whose `question.asked` has this subject, with one of its `options`; needs `--output stream-json` |\n" +
		"| `stop` | ends what is under way as cancelled. What waited is held; what is said after the stop is not |\n\n" +
		"A line that is not understood, or an answer that was not offered, is said on standard error, does nothing, and makes the\n" +
		"status 2; a `stop` or `decision` that comes too late is only said. Of several runs the first of the statuses 130, 3, 2, 6, 1,\n" +
		"4, 0 counts. When the input has ended nobody can answer: what asks is denied, as without a terminal.\n")
}

// payload is an empty payload of a kind.
func payload(t testing.TB, k event.Kind) event.Payload {
	p, err := event.Decode(k, k.Version(), []byte(`{}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// barrier tells whether payloads of a type are barriers, and which switch of theirs takes that away.
func barrier(p event.Payload) string {
	if !event.Barrier(p) {
		return ""
	}
	v := reflect.New(reflect.TypeOf(p)).Elem()
	for f := range v.Type().Fields() {
		if f.Type.Kind() != reflect.Bool {
			continue
		}
		v.FieldByIndex(f.Index).SetBool(true)
		if q, ok := v.Interface().(event.Payload); ok && !event.Barrier(q) {
			name, _ := jsonName(f)
			return "unless `" + name + "`"
		}
	}
	return "yes"
}

func jsonName(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, strings.Contains(options, "omitempty")
}

func writeFields(b *strings.Builder, docs map[string]string, typ reflect.Type) {
	b.WriteString("| field | type | may be absent | meaning |\n| --- | --- | --- | --- |\n")
	for f := range typ.Fields() {
		name, optional := jsonName(f)
		if name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous {
			fmt.Fprintf(b, "| | | | and those of [%s](#%s) |\n", f.Type.Name(), strings.ToLower(f.Type.Name()))
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, typeName(f.Type), yes(optional), cell(docs[typ.Name()+"."+f.Name]))
	}
}

// typeName names a type as a reader of JSON sees it.
func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	case t.Name() == "Time":
		return "time, RFC 3339"
	case t == reflect.TypeFor[json.Number](), t == reflect.TypeFor[trace.USD]():
		return "number"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		return "object of " + typeName(t.Elem())
	case reflect.Interface:
		return "any JSON"
	case reflect.Struct:
		name := strings.TrimPrefix(t.Name(), "shown")
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}

// inside collects the structs that a payload holds.
func inside(t reflect.Type, into map[reflect.Type]bool) {
	for f := range t.Fields() {
		e := f.Type
		for e.Kind() == reflect.Pointer || e.Kind() == reflect.Slice {
			e = e.Elem()
		}
		if e.Kind() == reflect.Struct && !into[e] {
			into[e] = true
			inside(e, into)
		}
	}
}

// comments gives the comments of a file's structs, by type, and of their fields, by TYPE.FIELD.
func comments(t testing.TB, path string) map[string]string {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			return true
		}
		for _, s := range d.Specs {
			spec := s.(*ast.TypeSpec)
			out[spec.Name.Name] = strings.TrimSpace(d.Doc.Text())
			body, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range body.Fields.List {
				for _, name := range field.Names {
					out[spec.Name.Name+"."+name.Name] = strings.TrimSpace(field.Doc.Text() + " " + field.Comment.Text())
				}
			}
		}
		return true
	})
	return out
}
