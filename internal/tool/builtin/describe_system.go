package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

//go:embed describe_system.md
var describeSystemText string

type describeSystem struct{ *core }

// Spec implements [tool.Tool].
func (describeSystem) Spec() event.ToolSpec {
	return spec("describe_system", describeSystemText, `{"type":"object","properties":{}}`)
}

// Prepare implements [tool.Tool].
func (d describeSystem) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	return &tool.Prepared{
		Action: policy.Action{Tool: "describe_system"}, Parallel: true,
		Run: func(context.Context, tool.Host) (*tool.Result, error) { return d.run(), nil },
	}, nil
}

// commonPrograms are those that are looked for. They are not run to ask for their versions: what lies in PATH may be anything.
func commonPrograms() []string {
	return []string{
		"bash", "sh", "git", "gh", "rg", "jq", "curl", "make", "cmake", "gcc", "clang", "go", "node", "npm", "pnpm", "yarn", "bun", "deno",
		"python3", "python", "pip3", "uv", "ruby", "php", "perl", "java", "mvn", "gradle", "cargo", "rustc", "dotnet", "docker", "podman", "sqlite3", "psql",
	}
}

func (d describeSystem) run() *tool.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "system: %s/%s%s\n", runtime.GOOS, runtime.GOARCH, release())
	fmt.Fprintf(&b, "processors: %d\n", runtime.NumCPU())
	var found, missing []string
	at := map[string]bool{}
	for _, name := range commonPrograms() {
		if d.program(name) {
			at[name] = true
			found = append(found, name)
		} else {
			missing = append(missing, name)
		}
	}
	switch {
	case at["bash"]:
		b.WriteString("shell of run_command: bash\n")
	case at["sh"]:
		b.WriteString("shell of run_command: sh\n")
	}
	fmt.Fprintf(&b, "installed: %s\n", strings.Join(found, ", "))
	fmt.Fprintf(&b, "not found: %s\n", strings.Join(missing, ", "))
	return &tool.Result{Content: b.String()}
}

// release says what the system calls itself, as far as files tell.
func release() string {
	var out string
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		out = ", kernel " + strings.TrimSpace(string(kernel))
	}
	about, err := os.ReadFile("/etc/os-release") // os-release(5)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(about)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return ", " + strings.Trim(name, `"'`) + out
		}
	}
	return out
}

// program tells whether a program lies in a folder of PATH.
func (c *core) program(name string) bool {
	var path string
	for _, kv := range c.env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
