//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// binary is block 8: the size of the program, what it does before main, and what must not be linked into it because it
// keeps the linker from leaving out methods that nobody calls.
func (b *bench) binary() error {
	info, err := os.Stat(b.program("overt"))
	if err != nil {
		return err
	}
	b.most("8 size", "release binary (no web application yet)", mb(info.Size()), 24, " MB")
	var inits []float64
	for range b.rounds {
		ms, err := b.inits()
		if err != nil {
			return err
		}
		inits = append(inits, ms)
	}
	b.most("8 size", "package init at the start", median(inits), 6, " ms")
	symbols, err := exec.Command("go", "tool", "nm", b.program("overt-symbols")).Output()
	if err != nil {
		return fmt.Errorf("go tool nm: %w", err)
	}
	for _, name := range []string{"reflect.Value.MethodByName", "text/template.(*Template).Execute"} {
		linked := 0
		if bytes.Contains(symbols, []byte(" T "+name+"\n")) {
			linked = 1
		}
		b.most("8 size", "linked: "+name, float64(linked), 0, "")
	}
	return nil
}

// initLine is a line of GODEBUG=inittrace=1, see package runtime.
var initLine = regexp.MustCompile(`^init (\S+) @\S+ ms, (\S+) ms clock, `)

// inits gives the milliseconds that all package initialisation took.
func (b *bench) inits() (float64, error) {
	cmd := exec.Command(b.program("overt"), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + b.disk}
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	sum, found := 0.0, false
	for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); {
		if m := initLine.FindStringSubmatch(lines.Text()); m != nil {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return 0, err
			}
			sum, found = sum+v, true
		}
	}
	if !found {
		return 0, fmt.Errorf("no package says how long its init took")
	}
	return sum, nil
}
