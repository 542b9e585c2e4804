//go:build linux

package main

import (
	"fmt"
	"time"
)

// start is block 1: what a program costs before it does anything.
func (b *bench) start() error {
	fast, err := b.place(b.fast, "start")
	if err != nil {
		return err
	}
	slow, err := b.place(b.disk, "start")
	if err != nil {
		return err
	}
	url := b.server.serve("word", script{answer: answer("done", 16)})
	tasks := []func() (usage, error){
		func() (usage, error) { return run(fast.work, b.environ(fast), b.program("empty")) },
		func() (usage, error) { return run(fast.work, b.environ(fast), b.program("overt"), "version") },
		func() (usage, error) { return b.floor(fast, url) },
		func() (usage, error) { return b.overt(fast, url) },
		func() (usage, error) { return b.overt(slow, url) },
	}
	runs, err := rounds(2*b.rounds, tasks...)
	if err != nil {
		return err
	}
	first := 0
	for _, r := range b.server.take("word") {
		first = max(first, r.bytes)
	}
	empty, _, _ := medians(runs[0])
	version, _, _ := medians(runs[1])
	floor, floorCPU, _ := medians(runs[2])
	wall, cpu, memory := medians(runs[3])
	disk, _, _ := medians(runs[4])
	b.most("1 start", "overt version: wall, to an empty Go program", ratio(version, empty), 2, "×")
	b.note("1 start", "… absolute", fmt.Sprintf("%.1f ms, empty %.1f ms", ms(version), ms(empty)))
	b.most("1 start", "one-word answer: wall, to the floor", ratio(wall, floor), 3, "×")
	b.most("1 start", "one-word answer: CPU, to the floor", ratio(cpu, floorCPU), 3, "×")
	b.note("1 start", "… absolute", fmt.Sprintf("%.1f ms, floor %.1f ms; CPU %.1f ms, floor %.1f ms", ms(wall), ms(floor), ms(cpu), ms(floorCPU)))
	b.note("1 start", "… with the state folder on the disk", fmt.Sprintf("%.1f ms", ms(disk)))
	b.most("1 start", "… peak memory", mb(memory), 28, " MB")
	b.most("1 start", "first request", float64(first), 8000, " bytes")
	return nil
}

// rounds runs each task in turn, n times, after one turn that does not count.
func rounds(n int, tasks ...func() (usage, error)) ([][]usage, error) {
	out := make([][]usage, len(tasks))
	for i := -1; i < n; i++ {
		for j, task := range tasks {
			u, err := task()
			if err != nil {
				return nil, err
			}
			if i >= 0 {
				out[j] = append(out[j], u)
			}
		}
	}
	return out, nil
}

// ownTime is how long a program took from each reply to its next request, on average.
func ownTime(seen []request) time.Duration {
	var sum time.Duration
	for i := 1; i < len(seen); i++ {
		sum += seen[i].arrived.Sub(seen[i-1].answered)
	}
	return sum / time.Duration(max(1, len(seen)-1))
}
