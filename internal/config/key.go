package config

import (
	"slices"
	"strings"
)

// Names of the settings, as configuration files write them. Those with a point stand in a section of the file.
const (
	Model          = "model"
	BaseURL        = "base_url"
	APIKey         = "api_key"
	APIKeyCommand  = "api_key_command"
	Protocol       = "protocol"
	System         = "system"
	Temperature    = "temperature"
	MaxTokens      = "max_tokens"
	Thinking       = "thinking"
	Effort         = "effort"
	Stream         = "stream"
	Probe          = "probe"
	Tools          = "tools"
	Permission     = "permission"
	Allow          = "allow"
	Deny           = "deny"
	DryRun         = "dry_run"
	Sandbox        = "sandbox"
	MaxSteps       = "max_steps"
	BudgetTokens   = "budget_tokens"
	BudgetFiles    = "budget_files"
	Timeout        = "timeout"
	RequestTimeout = "request_timeout"
	Retries        = "retries"
	IdleTimeout    = "idle_timeout"
	Proxy          = "proxy"
	CAFile         = "ca_file"
	HTTP1          = "http1"
	Ephemeral      = "ephemeral"
	Output         = "output"
	Input          = "input"
	Quiet          = "quiet"
	Verbose        = "verbose"
	CapturesMax    = "retention.captures_max"
	CapturesAge    = "retention.captures_age"
	FilesMax       = "retention.files_max"
	FilesAge       = "retention.files_age"
)

// Kind is the form of a setting's value.
type Kind int

// Kinds of values.
const (
	Text     Kind = iota
	Choice        // one of Key.Choices
	Bool          // true, false
	Count         // a whole number, 0 or more
	Number        // a number from 0 to Key.Max
	Duration      // "90s", "1h30m"; 0 is none
	Size          // bytes, or "2GB"; 0 is no limit
	List          // of texts; layers add to each other
	Command       // a program and its arguments; configuration files only
	Names         // some of Key.Choices, with commas between; false for none, true for the default
)

// Key is one setting.
type Key struct {
	Name     string
	Kind     Kind
	Short    string // of the flag, one letter or ""
	Arg      string // what the flag calls its value
	Default  string
	Choices  []string
	Max      float64
	Secret   bool
	FileOnly bool   // neither flag nor variable
	Off      string // what the flag of a switch does that is on without it; of Names, what the flag for none does; of a Choice that has Off, what the flag for that does
	Doc      string // one sentence for help, schema and reference
	File     string // the sentence for the schema, where it is another one; "": Doc
}

// Flag is the name of the key's flag: a switch that is on by default is turned off by "no-" and its name. "" if there is
// none.
func (k Key) Flag() string {
	if k.FileOnly {
		return ""
	}
	switch name := strings.ReplaceAll(strings.ReplaceAll(k.Name, "_", "-"), ".", "-"); {
	case k.Kind == Bool && k.Default == "true":
		return "no-" + name
	default:
		return name
	}
}

// switches tells whether the key's values are those of a switch and something beside.
func (k Key) switches() bool { return k.Kind == Choice && slices.Contains(k.Choices, On) }

// OffFlag is the name of a second flag, a switch, by which names are none, or a choice is Off; "" if there is none.
func (k Key) OffFlag() string {
	if k.OffValue() == "" {
		return ""
	}
	return "no-" + k.Flag()
}

// OffValue is the value that the second flag stands for.
func (k Key) OffValue() string {
	switch {
	case k.Off == "":
	case k.Kind == Names:
		return "false"
	case k.Kind == Choice:
		return Off
	}
	return ""
}

// Variable is the environment variable that sets the key, "" if there is none.
func (k Key) Variable() string {
	if k.FileOnly {
		return ""
	}
	return "OVERT_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Keys lists the settings in the order in which they are shown.
func Keys() []Key {
	return []Key{
		{Name: Model, Short: "m", Arg: "[PROVIDER/]MODEL", Doc: "the model; PROVIDER is a preset or an entry of providers"},
		{Name: BaseURL, Short: "u", Arg: "URL", Doc: "the address of a model server; the model's name is then taken as it stands", File: "the address of a model server; model is then its name as it stands, and api_key its key"},
		{Name: APIKey, Short: "k", Arg: "KEY", Secret: true, Doc: "the key of the model server (better: OVERT_API_KEY; a command line is visible to others)", File: "the key of the model server that this file names, of the vendor that its beginning tells, or of the first preset; \"${NAME}\" takes it from the environment"},
		{Name: APIKeyCommand, Kind: Command, FileOnly: true, Doc: "a program and its arguments whose first line of output is the key"},
		{Name: Protocol, Kind: Choice, Arg: "P", Default: "openai-chat", Choices: Protocols(), Doc: "the protocol of the model server"},
		{Name: System, Short: "s", Arg: "TEXT|@FILE", Doc: "replaces the built-in system prompt"},
		{Name: Temperature, Kind: Number, Short: "t", Arg: "N", Max: 2, Doc: "the sampling temperature, 0 to 2; unset sends none"},
		{Name: MaxTokens, Kind: Count, Arg: "N", Default: "0", Doc: "the most tokens of one answer; 0 sends none"},
		{Name: Thinking, Kind: Choice, Arg: "MODE", Default: Auto, Choices: []string{Auto, On, Off}, Doc: "whether the model thinks before it answers; auto leaves it to the server"},
		{Name: Effort, Kind: Choice, Arg: "LEVEL", Default: Auto, Choices: append([]string{Auto}, Efforts()...), Doc: "how much it thinks, as near as the server has it; auto leaves it to the server"},
		{Name: Stream, Kind: Bool, Default: "true", Off: "ask for whole answers instead of streams", Doc: "whether answers are asked for as streams"},
		{Name: Probe, Kind: Choice, Arg: "WHEN", Default: Auto, Choices: []string{Auto, ProbeAlways, Off}, Off: "send no request of a probe before one of the task", Doc: "whether it is measured what model and server take: auto does so for pictures that nobody knows of, always for tools and pictures before the first request, once for each model"},
		{Name: Tools, Kind: Names, Arg: "SETS", Default: SetCore, Choices: ToolSets(), Off: "give the model no tools", Doc: "the sets of tools that the model gets"},
		{Name: Permission, Kind: Choice, Arg: "PROFILE", Default: "ask", Choices: Profiles(), Doc: "what runs unasked"},
		{Name: Allow, Kind: List, Arg: "RULE", Doc: "allow what a rule matches, as run_command(go test:*)"},
		{Name: Deny, Kind: List, Arg: "RULE", Doc: "deny what a rule matches; stronger than allow"},
		{Name: Sandbox, Kind: Bool, Default: "true", Off: "let auto ask before each command instead of confining it", Doc: "whether commands that auto runs unasked are confined to the workspace, without network and secrets, where the system can"},
		{Name: DryRun, Kind: Bool, Default: "false", Doc: "change nothing and run no command: tools only say what they would do"},
		{Name: MaxSteps, Kind: Count, Arg: "N", Default: "0", Doc: "the most model calls for one input; 0 is no limit"},
		{Name: BudgetTokens, Kind: Count, Arg: "N", Default: "0", Doc: "no further model call once N tokens, in and out, were used for one input; 0 is no limit"},
		{Name: BudgetFiles, Kind: Count, Arg: "N", Default: "0", Doc: "the most files that the file tools may change for one input; 0 is no limit"},
		{Name: Timeout, Kind: Duration, Arg: "DUR", Default: "0", Doc: "the most time for one input, as 90s or 1h30m; 0 is no limit"},
		{Name: RequestTimeout, Kind: Duration, Arg: "DUR", Default: "0", Doc: "the most time for one model request; 0 is no limit"},
		{Name: Retries, Kind: Count, Arg: "N", Default: "2", Max: 20, Doc: "how often a model call that failed for a passing reason is made again, at most 20"},
		{Name: IdleTimeout, Kind: Duration, FileOnly: true, Default: "0", Doc: "how long a model server may be silent; 0 is 5 minutes, and for servers of this machine or network 30 once the answer has begun"},
		{Name: Proxy, FileOnly: true, Doc: "the proxy to model servers: an http, https or socks5 URL, or off; unset, HTTPS_PROXY, HTTP_PROXY and NO_PROXY count"},
		{Name: CAFile, FileOnly: true, Doc: "a PEM file of certificates to trust beside the system's"},
		{Name: HTTP1, Kind: Bool, FileOnly: true, Default: "false", Doc: "speak HTTP/1.1 alone, for gateways that break HTTP/2"},
		{Name: Ephemeral, Kind: Bool, Default: "false", Doc: "keep the record in a temporary folder that is removed at the end"},
		{Name: Output, Kind: Choice, Arg: "FORM", Default: "text", Choices: []string{"text", "json", "stream-json"}, Doc: "the form of the output"},
		{Name: Input, Kind: Choice, Arg: "FORM", Default: "text", Choices: []string{"text", "stream-json"}, Doc: "the form of standard input"},
		{Name: Quiet, Kind: Bool, Short: "q", Default: "false", Doc: "show no tool output"},
		{Name: Verbose, Kind: Bool, Short: "v", Default: "false", Doc: "show each HTTP exchange in a line"},
		{Name: CapturesMax, Kind: Size, FileOnly: true, Default: "2GB", Doc: "how much of captures and whole outputs a workspace keeps; the oldest go first; 0 is no limit"},
		{Name: CapturesAge, Kind: Duration, FileOnly: true, Default: "0", Doc: "how long they are kept at most, as 720h; 0 is no limit"},
		{Name: FilesMax, Kind: Size, FileOnly: true, Default: "1GB", Doc: "how much of former states of files a workspace keeps for undo; the oldest go first; 0 is no limit"},
		{Name: FilesAge, Kind: Duration, FileOnly: true, Default: "0", Doc: "how long they are kept at most, as 720h; 0 is no limit"},
	}
}

// Trustable lists the keys that a project's file may set once the person trusts it: none that loosens what may run, names
// where requests and keys go, lifts a limit, or reads a file.
func Trustable() []string {
	return []string{Model, Temperature, MaxTokens, Thinking, Effort, Stream}
}

// Values of Thinking; true and false stand for On and Off.
const (
	Auto = "auto"
	On   = "on"
	Off  = "off"
)

// ProbeAlways is a value of Probe, beside Auto and Off.
const ProbeAlways = "always"

// Efforts lists the levels of thinking.
func Efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max", "ultra"} }

// lookup finds a key by its name.
func lookup(name string) (Key, bool) {
	keys := Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Profiles lists the permission profiles.
func Profiles() []string { return []string{"plan", "ask", "auto", "full"} }

// Sets of tools. Those are set apart that not every task needs: each tool is paid for with every request.
const (
	SetCore   = "core"
	SetPatch  = "patch"
	SetGit    = "git"
	SetSystem = "system"
)

// ToolSets lists the sets of tools, in the order in which a model is told of them.
func ToolSets() []string { return []string{SetCore, SetPatch, SetGit, SetSystem} }

// Protocols lists the protocols.
func Protocols() []string { return []string{"openai-chat", "openai-responses", "anthropic-messages"} }

// anthropic is the protocol of a preset.
const anthropic = "anthropic-messages"
