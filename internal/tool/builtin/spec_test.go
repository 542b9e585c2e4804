package builtin_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overt/internal/policy"
)

// TestNames: a name says verb and object, tells tools that change something from those that look, and is like no other;
// a parameter of one name is of one type everywhere. What policy decides on bears the name that the model calls.
//
// covers L210 L211 L213
func TestNames(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`) // so none is a command of the prompt or of the command line: those are one word
	looks := []string{"read", "list", "search", "describe", "stat", "summarize"}
	verbs := slices.Concat(looks, []string{"edit", "write", "run", "stop", "update", "apply", "git"})
	filler := []string{"get", "do", "the", "tool", "helper", "util", "data", "item", "my"}
	typical := map[string]args{
		"read_file": {"path": "f"}, "read_image": {"path": "f"}, "list_files": {}, "search_text": {"pattern": "x"}, "edit_file": {"path": "f", "old_string": "x", "new_string": "y"},
		"write_file": {"path": "new", "content": "x"}, "run_command": {"command": "true"}, "read_output": {"id": "out_1-1"}, "stop_job": {"id": "job_1"}, "update_plan": {"items": []any{}},
		"describe_system": {}, "stat_path": {"path": "f"}, "summarize_workspace": {}, "read_many_files": {"paths": []any{"f"}},
		"apply_patch": {"patch": "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"},
		"git_status":  {}, "git_diff": {}, "git_log": {}, "git_add": {"paths": []any{"f"}}, "git_commit": {"message": "x"},
	}
	b := setUp(t, map[string]string{"f": "x\n"})
	if out, err := exec.Command("git", "init", "-q", b.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	words, types := map[string]string{}, map[string]string{}
	for name, x := range b.tools {
		if !form.MatchString(name) || len(name) > 24 {
			t.Errorf("%s is no verb_object of at most 24 characters", name)
		}
		parts := strings.Split(name, "_")
		if !slices.Contains(verbs, parts[0]) {
			t.Errorf("%s: %s is a new verb; is none of %v meant?", name, parts[0], verbs)
		}
		for i, p := range parts {
			if slices.Contains(filler, p) {
				t.Errorf("%s: %s says nothing", name, p)
			}
			parts[i] = strings.TrimSuffix(p, "s")
		}
		slices.Sort(parts)
		key := strings.Join(parts, " ")
		if other, ok := words[key]; ok {
			t.Errorf("%s and %s differ in the order or number of words only", name, other)
		}
		words[key] = name

		p, err := b.prepare(name, typical[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Action.Tool != name {
			t.Errorf("%s is decided on as %s", name, p.Action.Tool)
		}
		changes := slices.ContainsFunc(p.Action.Effects, func(e policy.Effect) bool { return e.Kind != policy.Read })
		if look := slices.ContainsFunc(looks, func(v string) bool { return strings.Contains(name, v) }); look && changes {
			t.Errorf("%s changes something, and its name says that it looks", name)
		}

		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(x.Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for param, s := range schema.Properties {
			if before, ok := types[param]; ok && before != s.Type {
				t.Errorf("%s: %s is of type %s, elsewhere %s", name, param, s.Type, before)
			}
			types[param] = s.Type
		}
	}
}
