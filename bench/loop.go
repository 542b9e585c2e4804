//go:build linux

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// loop is the first half of block 2: a task of 20 shell commands.
func (b *bench) loop() error {
	fast, err := b.place(b.fast, "loop")
	if err != nil {
		return err
	}
	slow, err := b.place(b.disk, "loop")
	if err != nil {
		return err
	}
	sc := script{steps: 20, command: func(n int) string { return fmt.Sprintf("echo step %d", n) }, answer: answer("done", 16)}
	own := map[string][]time.Duration{}
	timed := func(name string, p place, agent func(place, string) (usage, error)) func() (usage, error) {
		url := b.server.serve(name, sc)
		return func() (usage, error) {
			u, err := agent(p, url)
			own[name] = append(own[name], ownTime(b.server.take(name)))
			return u, err
		}
	}
	runs, err := rounds(b.rounds, timed("floor20", fast, b.floor), timed("overt20", fast, b.overt), timed("overt20disk", slow, b.overt))
	if err != nil {
		return err
	}
	floor, mem, disk := median(own["floor20"]), median(own["overt20"]), median(own["overt20disk"])
	_, cpu, memory := medians(runs[1])
	_, floorCPU, _ := medians(runs[0])
	b.most("2 loop", "20-step shell task: own time per step, to the floor", ratio(mem, floor), 3, "×")
	b.note("2 loop", "… absolute", fmt.Sprintf("%.2f ms, floor %.2f ms", ms(mem), ms(floor)))
	b.note("2 loop", "… CPU, commands included", fmt.Sprintf("%.0f ms, floor %.0f ms", ms(cpu), ms(floorCPU)))
	b.note("2 loop", "… syncing to the disk, per step", fmt.Sprintf("%.2f ms more", ms(disk-mem)))
	b.most("2 loop", "… peak memory", mb(memory), 34, " MB")
	return nil
}

// Sizes of a step of the long task: what the model says, and what its command prints.
const (
	longSteps   = 400
	answerBytes = 500
	resultBytes = 3000
)

// long is a task of 400 steps, run by the whole program: how its memory and its record grow.
func (b *bench) long() error {
	source, err := sourceText()
	if err != nil {
		return err
	}
	for _, content := range []struct {
		name string
		text func(n int) string
		most float64
	}{{"source text", source, 2}, {"random base64", randomText(), 3}} {
		few, err := b.longTask(content.text, 20)
		if err != nil {
			return err
		}
		all, err := b.longTask(content.text, longSteps)
		if err != nil {
			return err
		}
		if content.name == "source text" {
			b.most("2 loop", "400-step task: memory, growth per 100 steps", mb(all.usage.Memory-few.usage.Memory)*100/(longSteps-20), 2, " MB")
			b.note("2 loop", "… peak memory", fmt.Sprintf("%.1f MB", mb(all.usage.Memory)))
			early, late := window(all.seen, 20), window(all.seen, longSteps-10)
			b.note("2 loop", "… own time of a step with its command, 400th to 20th", fmt.Sprintf("%.2f×, %.2f ms to %.2f ms", ratio(late, early), ms(late), ms(early)))
		}
		b.most("4 store", "400 steps on the disk, to their content: "+content.name, float64(all.bytes)/float64(all.unique), content.most, "×")
	}
	return nil
}

type longRun struct {
	usage         usage
	seen          []request
	bytes, unique int64
}

func (b *bench) longTask(text func(n int) string, steps int) (longRun, error) {
	p, err := b.place(b.fast, fmt.Sprintf("long%d", steps))
	if err != nil {
		return longRun{}, err
	}
	defer os.RemoveAll(filepath.Dir(p.work))
	said := make([]string, steps+1)
	for i := 1; i <= steps; i++ {
		said[i] = text(answerBytes)
		if err := os.WriteFile(filepath.Join(p.work, fmt.Sprint(i)), []byte(text(resultBytes)), 0o600); err != nil {
			return longRun{}, err
		}
	}
	url := b.server.serve("long", script{
		steps: steps, live: true, answer: answer("done", 16),
		text: func(n int) string { return said[n] }, command: func(n int) string { return fmt.Sprintf("cat %d", n) },
	})
	r := longRun{}
	if r.usage, err = b.overt(p, url); err != nil {
		return r, err
	}
	if r.seen = b.server.take("long"); len(r.seen) != steps+1 {
		return r, fmt.Errorf("the task of %d steps sent %d requests", steps, len(r.seen))
	}
	r.unique = int64(r.seen[0].bytes + steps*(answerBytes+resultBytes))
	err = filepath.WalkDir(p.state, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			r.bytes += info.Size()
		}
		return err
	})
	return r, err
}

// window is the median own time of the steps around the n-th.
func window(seen []request, n int) time.Duration {
	var out []time.Duration
	for i := n - 10; i < n+10; i++ {
		out = append(out, seen[i].arrived.Sub(seen[i-1].answered))
	}
	return median(out)
}

// sourceText gives pieces of the standard library's source, one after the other.
func sourceText() (func(n int) string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http", "*.go"))
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, f := range files { // sorted
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for i, c := range text {
			if c >= 0x80 { // deltas are cut anywhere
				text[i] = '?'
			}
		}
		all = append(all, text...)
	}
	if len(all) < longSteps*(answerBytes+resultBytes) {
		return nil, errors.New("the Go installation has too little source in net/http")
	}
	at := 0
	return func(n int) string {
		if at+n > len(all) {
			at = 0
		}
		at += n
		return string(all[at-n : at])
	}, nil
}

// randomText gives random bytes in base64, in which nothing repeats.
func randomText() func(n int) string {
	rnd := rand.New(rand.NewPCG(3, 4))
	return func(n int) string {
		b := make([]byte, n*3/4)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
}
