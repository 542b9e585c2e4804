package main

import (
	"strings"
	"testing"

	"overt/internal/scripted"
)

// TestDropped: thinking and effort that a server has no word for are not dropped in silence, where they were said for the run.
func TestDropped(t *testing.T) {
	s := school(t, pupil, nil)
	const effort = "effort low (flag --effort) is not sent"
	for name, c := range map[string]struct {
		protocol, quirks string
		args             []string
		want, not        string
	}{
		"no switch":              {"openai-chat", `{}`, []string{"--thinking", "off"}, "thinking off (flag --thinking) is not sent: no switch", ""},
		"a switch":               {"openai-chat", `{"thinking": "effort"}`, []string{"--thinking", "off"}, "", "is not sent"},
		"no effort":              {"openai-chat", `{"no_effort": true}`, []string{"--effort", "low"}, effort, "thinking"},
		"an effort":              {"openai-chat", `{}`, []string{"--effort", "low"}, "", "is not sent"},
		"Messages, effort alone": {"anthropic-messages", `{}`, []string{"--thinking", "on", "--effort", "low", "-t", "0.5"}, "thinking on (flag --thinking) is not sent", "effort"},
		"Messages, a budget":     {"anthropic-messages", `{"thinking": "budget"}`, []string{"--thinking", "on", "--effort", "medium"}, "", "is not sent"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.settings(`{"providers": {"here": {"base_url": "` + s.URL + `/v1", "api_key": "sk-probe-secret-0001", "protocol": "` + c.protocol + `", "quirks": ` + c.quirks + `}}}`)
			r := p.run(append([]string{"-m", "here/scripted", "what is the number?"}, c.args...)...)
			r.want(t, 0)
			if c.want == "" && strings.Contains(r.err, "is not sent") || !strings.Contains(r.err, c.want) || c.not != "" && strings.Contains(r.err, c.not) {
				t.Errorf("%s", r.err)
			}
			if d := p.run(append([]string{"doctor", "--offline", "-m", "here/scripted"}, c.args...)...); (c.want != "") != strings.Contains(d.out, "has no effect: no") {
				t.Errorf("%s", d.out)
			}
		})
	}
	// What a file says is for doctor to tell.
	p := newPlace(t)
	p.settings(`{"thinking": false, "base_url": "` + s.URL + `/v1", "api_key": "sk-probe-secret-0001"}`)
	if r := p.run("-m", "scripted", "what is the number?"); r.status != 0 || strings.Contains(r.err, "is not sent") {
		t.Errorf("%+v", r)
	}
}

// TestModelChanges: who goes on with a task with another model, or elsewhere, is told.
func TestModelChanges(t *testing.T) {
	says := func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "ok"} }
	one, two := school(t, says, nil), school(t, says, nil)
	p := newPlace(t)
	p.settings(`{"providers": {"one": {"base_url": "` + one.URL + `/v1", "api_key": "sk-probe-secret-0001"}, "two": {"base_url": "` + two.URL + `/v1", "api_key": "sk-probe-secret-0001"}}}`)
	for _, c := range []struct {
		model string
		args  []string
		want  string
	}{
		{"one/a", nil, ""},
		{"one/a", []string{"--continue"}, ""},
		{"one/b", []string{"--continue"}, "overt: the model is now b (was a)\n"},
		{"two/b", []string{"--continue"}, "overt: the model is now two/b (was one/b)\n"},
		{"two/c", []string{"--resume", "last"}, "overt: the model is now c (was b)\n"},
		{"two/d", nil, ""},
	} {
		r := p.run(append([]string{"-m", c.model, "go"}, c.args...)...)
		if r.status != 0 || !strings.Contains(r.err, c.want) || c.want == "" && strings.Contains(r.err, "the model is now") {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// TestKeyOfAnother: a key of another endpoint is told of where one is missed, and nowhere else.
func TestKeyOfAnother(t *testing.T) {
	const told = "belongs to another endpoint"
	for _, c := range []struct {
		args []string
		told bool
	}{
		{[]string{"-u", "https://models.example/v1"}, true},
		{[]string{"-u", "https://models.example/v1", "-k", "sk-other-secret-0001"}, false},
		{[]string{"-u", "http://127.0.0.1:1/v1"}, false},
	} {
		p := newPlace(t)
		p.settings(`{"base_url": "https://own.example/v1", "api_key": "sk-probe-secret-0001"}`)
		if r := p.run(append([]string{"config", "show", "-m", "x"}, c.args...)...); r.status != 0 || strings.Contains(r.err, told) != c.told {
			t.Errorf("%q: %+v", c.args, r)
		}
		if r := p.run(append([]string{"doctor", "--offline", "-m", "x"}, c.args...)...); strings.Contains(r.out, "[! ] the key of") != c.told {
			t.Errorf("%q: %s", c.args, r.out)
		}
	}
}
