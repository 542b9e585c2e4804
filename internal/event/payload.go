package event

import (
	"encoding/json"
	"slices"
)

// SessionStarted is written with the first run of a program on a workspace; a session that runs nothing leaves no fact.
type SessionStarted struct {
	Version string `json:"version"`
	Client  string `json:"client"` // cli
	Dir     string `json:"dir"`
	PID     int    `json:"pid"`
}

// SessionEnded closes what SessionStarted began; it is missing after a crash.
type SessionEnded struct {
	Reason string `json:"reason"`
}

// TaskCreated stands in the batch of the task's first input.
type TaskCreated struct {
	Title  string `json:"title"`
	Origin string `json:"origin"`           // person, demo
	Parent string `json:"parent,omitempty"` // the task that it was forked from
	From   Seq    `json:"from,omitempty"`   // the node that its thread goes on from
}

// TaskChanged changes what is said of a task, not its thread. What is absent stays.
type TaskChanged struct {
	Title  string `json:"title,omitempty"`
	State  string `json:"state,omitempty"`  // active, paused, completed, cancelled, archived
	Reason string `json:"reason,omitempty"` // of the state, in the person's words
	By     string `json:"by"`               // person
}

// States of a task.
const (
	TaskActive    = "active"    // takes inputs
	TaskPaused    = "paused"    // must be resumed first
	TaskCompleted = "completed" // takes none, as the two below, until it is reopened
	TaskCancelled = "cancelled"
	TaskArchived  = "archived" // and is out of sight
	TaskGone      = "erased"   // nothing is left of it but the numbers of its facts, for ever
)

// TaskErased is the last fact of a task that was erased: the data of all before it is gone.
type TaskErased struct {
	By    string `json:"by"`
	Facts int64  `json:"facts"` // whose data was erased
	Bytes int64  `json:"bytes"` // that they took as stored, long texts included
}

// HeadMoved puts a task on another node.
type HeadMoved struct {
	From   Seq    `json:"from"` // the node that it stood on
	To     Seq    `json:"to"`
	Reason string `json:"reason"` // branch
}

// BranchCreated says that a thread goes on beside another one.
type BranchCreated struct {
	Reason string `json:"reason"` // fork
	From   Seq    `json:"from"`   // the last node that both have
	Nodes  int    `json:"nodes"`  // nodes written anew for it; a fork needs none
}

// RunAccepted is the promise that an input will be worked on. Barrier.
type RunAccepted struct {
	RunKind string `json:"kind"` // turn
	Client  string `json:"client"`
	Limits  Limits `json:"limits"`
	DryRun  bool   `json:"dry_run,omitempty"` // tools only say what they would do
}

// Limits bound a run; 0 is no limit.
type Limits struct {
	Steps   int   `json:"steps,omitempty"`   // model calls that bring the turn forward
	Tokens  int64 `json:"tokens,omitempty"`  // of all calls, in and out
	Files   int   `json:"files,omitempty"`   // that tools change
	Seconds int   `json:"seconds,omitempty"` // from acceptance
}

// RunStarted says that work on the run began.
type RunStarted struct{}

// RunCompleted ends a run that gave a final answer.
type RunCompleted struct {
	Answer string `json:"answer"` // subject of the message that holds it
	Steps  int    `json:"steps"`
	Usage  Usage  `json:"usage"`
	Denied int    `json:"denied"`         // tool calls denied because nobody could be asked
	Cost   *Cost  `json:"cost,omitempty"` // of its calls; absent: of none is it known
}

// RunFailed ends a run without an answer.
type RunFailed struct {
	Code   string `json:"code"`             // provider, protocol, no-progress, denied, context, limit.{steps,tokens,files,time}, storage, internal
	Detail string `json:"detail,omitempty"` // one line for people, masked
	Class  string `json:"class,omitempty"`  // provider: the class of the last call's failure
	HTTP   int    `json:"http,omitempty"`
	Steps  int    `json:"steps"`
	Usage  Usage  `json:"usage"`
	Denied int    `json:"denied"`
	Cost   *Cost  `json:"cost,omitempty"`
}

// RunCancelled ends a run that a person stopped.
type RunCancelled struct {
	By     string `json:"by"`
	Steps  int    `json:"steps"`
	Usage  Usage  `json:"usage"`
	Denied int    `json:"denied"`
	Cost   *Cost  `json:"cost,omitempty"`
}

// RunInterrupted is written by recovery for a run whose process died.
type RunInterrupted struct {
	Reason string   `json:"reason"`
	Open   []string `json:"open,omitempty"`  // ids of tool calls and model calls that were under way: outcome unknown
	Ended  []string `json:"ended,omitempty"` // of these, commands that had survived and were ended
}

// ContextHead fixes what stands before all messages from here on: system fragments, tools, model, parameters. Node.
type ContextHead struct {
	Cause     string          `json:"cause"` // first, model, tools, system
	Provider  string          `json:"provider"`
	Protocol  string          `json:"protocol"`
	Model     string          `json:"model"`
	Params    json.RawMessage `json:"params,omitempty"`
	Fragments []string        `json:"fragments"` // SOURCE/NAME of the texts that are the system prompt, in order; the newest taken counts
	Tools     []ToolSpec      `json:"tools"`
}

// ToolSpec is a tool as the model is told of it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of type object
}

// ContextPacked records each candidate for the context of a turn and what was decided on it.
type ContextPacked struct {
	Items []PackedItem `json:"items"`
}

// PackedItem is one candidate. Estimate is in tokens and an estimate.
type PackedItem struct {
	Source   string `json:"source"`
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Reason   string `json:"reason"`
	Priority int    `json:"priority,omitempty"`
	Estimate int    `json:"estimate"`
	Choice   string `json:"choice"` // include, exclude, truncate, keep (as taken before)
}

// ContextTaken is a text that a source gave and that the thread now contains. Node.
type ContextTaken struct {
	Source     string `json:"source"`
	Name       string `json:"name"`
	Version    string `json:"version,omitempty"` // hash of the text at its source
	Place      string `json:"place"`             // head, here
	Reason     string `json:"reason"`
	Text       string `json:"text"`
	Supersedes Seq    `json:"supersedes,omitempty"`
	Untrusted  bool   `json:"untrusted,omitempty"`
}

// MessageAdded is a message of the thread. Node.
type MessageAdded struct {
	Role    string  `json:"role"`   // user, assistant
	Origin  string  `json:"origin"` // person, model, steer (a person, while the turn went on), runtime
	Blocks  []Block `json:"blocks"`
	Queue   string  `json:"queue,omitempty"`   // the item of the queue that this delivers
	Cut     string  `json:"cut,omitempty"`     // why the text is not whole: length, broken, cancelled
	Dropped int     `json:"dropped,omitempty"` // calls that were begun and could not be kept
}

// Block is a piece of a message.
type Block struct {
	Type    string          `json:"type"` // text, reasoning, call, image
	Text    string          `json:"text,omitempty"`
	Carrier string          `json:"carrier,omitempty"` // field that a reasoning text arrived in
	Opaque  json.RawMessage `json:"opaque,omitempty"`  // what the model's server wants back with it, as it came
	Origin  string          `json:"origin,omitempty"`  // endpoint and model that it goes back to, and to no other
	Call    *ToolCall       `json:"call,omitempty"`
	Image   *Image          `json:"image,omitempty"`
}

// Image refers to a picture, whose bytes are kept once, apart.
type Image struct {
	Hash  string `json:"hash"`  // SHA-256 of the bytes, hexadecimal
	Media string `json:"media"` // image/png, image/jpeg, image/gif, image/webp
	Bytes int64  `json:"bytes"`
	Name  string `json:"name,omitempty"` // of the file that it was read from, for people
	Data  []byte `json:"-"`              // the bytes, in a draft alone; nil: the log has them already
}

// PicturesLeft says that requests go without pictures from here on, as long as the model is the same: its server refused one
// over them, or it is known to take none. Each is replaced by a line that says so. The subject is the call that failed. Node.
type PicturesLeft struct {
	Count  int    `json:"count"`  // pictures in the request that was refused, or would have been
	Reason string `json:"reason"` // the server's words; empty: it was not asked
}

// ToolCall is a call that the model made.
type ToolCall struct {
	ID    string `json:"id"`              // ours, derived from run, step and ordinal
	Given string `json:"given,omitempty"` // the id that the model's server gave
	Name  string `json:"name"`            // as offered; what the model wrote, if no tool has that name
	Args  string `json:"args"`            // text as received
}

// CallStarted is written before a model request leaves.
type CallStarted struct {
	Lane     string `json:"lane"`
	Purpose  string `json:"purpose"` // chat
	Attempt  int    `json:"attempt"` // from 1
	Provider string `json:"provider"`
	Protocol string `json:"protocol"`
	Model    string `json:"model"`
	Head     Seq    `json:"head"`              // the context.head in force
	Leaf     Seq    `json:"leaf"`              // the node that the request ends with
	Estimate int    `json:"estimate"`          // tokens, estimated
	Repairs  int    `json:"repairs,omitempty"` // places where a broken history was mended in this request
	// Prices are those of the model as this program knows them; absent: it does not.
	Prices *Prices `json:"prices,omitempty"`
}

// Prices are list prices in nano-dollars (a thousand-millionth of a US dollar) for a million tokens of each bucket of
// [Usage]; reasoning is paid as output. Nil: not known.
type Prices struct {
	Fresh      *int64 `json:"fresh"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Output     *int64 `json:"output"`
}

// Cost is what a call cost, or several.
type Cost struct {
	Nano     int64 `json:"nano_usd"`           // nano-dollars
	Reported bool  `json:"reported,omitempty"` // the server said so; else it is tokens times prices, an estimate
	Unknown  int   `json:"unknown,omitempty"`  // of a sum: calls that were answered, whose cost is not known and not in it
}

// CallCompleted is the end of a call whose reply was whole.
type CallCompleted struct {
	HTTP       int      `json:"http"`
	ProviderID string   `json:"provider_id,omitempty"`
	Finish     string   `json:"finish"`
	RawFinish  string   `json:"raw_finish,omitempty"`
	Usage      Usage    `json:"usage"`
	Exchange   Exchange `json:"exchange"`
	Cost       *Cost    `json:"cost,omitempty"` // absent: not known
	// Unread says that the server counted far fewer tokens in the request than were sent: it has likely left out what it had no
	// room for, and not said so.
	Unread bool `json:"unread,omitempty"`
}

// CallFailed is the end of any other call.
type CallFailed struct {
	Class    string   `json:"class"`
	Code     string   `json:"code,omitempty"`
	HTTP     int      `json:"http,omitempty"`
	Message  string   `json:"message"`
	Partial  bool     `json:"partial,omitempty"`     // text had come
	RetryIn  *int64   `json:"retry_in_ms,omitempty"` // an attempt follows after so many milliseconds
	Usage    Usage    `json:"usage"`
	Exchange Exchange `json:"exchange"`
	Cost     *Cost    `json:"cost,omitempty"`
}

// Exchange is what the wire knows of a call.
type Exchange struct {
	Request     Body  `json:"request"`
	Response    Body  `json:"response"`
	FirstByteMS int64 `json:"first_byte_ms,omitempty"`
	DurationMS  int64 `json:"duration_ms"`
}

// Body describes a captured body as stored. Masked counts secrets replaced in it: not 0, and it is not exact.
type Body struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	Masked int    `json:"masked,omitempty"`
}

// Usage counts tokens as reported, in disjoint buckets (Reasoning is part of Output). A nil bucket was not reported;
// 0 is a value. Coverage: complete, partial (some call of the sum did not report), unavailable.
type Usage struct {
	Fresh      *int64          `json:"fresh"`
	CacheRead  *int64          `json:"cache_read"`
	CacheWrite *int64          `json:"cache_write"`
	Output     *int64          `json:"output"`
	Reasoning  *int64          `json:"reasoning"`
	Coverage   string          `json:"coverage"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// ToolDecided is what policy said of a call.
type ToolDecided struct {
	Name    string   `json:"name"`
	Args    string   `json:"args,omitempty"` // only if they were repaired
	Effects []Effect `json:"effects,omitempty"`
	Verdict string   `json:"verdict"` // allow, ask, deny
	Rule    string   `json:"rule,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Preview string   `json:"preview,omitempty"` // command or diff
	Dir     string   `json:"dir,omitempty"`     // that a command begins in, where it is not the workspace; its effect and preview begin with the cd there
	Unasked bool     `json:"unasked,omitempty"` // denied because nobody could be asked
	By      string   `json:"by,omitempty"`      // the question whose answer made Rule
	// Of a command only: its grade (low, medium, high), the one that the model gave it, why, and what it is found to do.
	Grade    string   `json:"grade,omitempty"`
	OwnGrade string   `json:"own_grade,omitempty"`
	Risk     []string `json:"risk,omitempty"`
	Found    []Effect `json:"found,omitempty"`
	Taint    []Taint  `json:"taint,omitempty"` // what of it stands in a text that no person wrote
}

// Taint is a text that a call repeats, and where it came from: a tool and what that was asked for, or a source and a name.
type Taint struct {
	Text string `json:"text"`
	From string `json:"from"`
}

// Effect is what a call would do to something.
type Effect struct {
	Kind       string `json:"kind"` // read, write, run; of what is found in a command also delete, fetch, send, elevate
	Target     string `json:"target"`
	Reversible bool   `json:"reversible,omitempty"` // of what is found in a command: a copy of the workspace is enough to put it back
}

// ToolStarted is the intent; it is committed before the effect. Barrier unless ReadOnly.
type ToolStarted struct {
	Name       string `json:"name"`
	ReadOnly   bool   `json:"read_only,omitempty"`
	Dir        string `json:"dir,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"` // that covers it
	Sandbox    bool   `json:"sandbox,omitempty"`    // it is confined
	Group      *Group `json:"group,omitempty"`      // the process group that will run; held until this fact is committed
}

// Group identifies a process group beyond reuse of its number: the leader's id and start time as the kernel counts it.
type Group struct {
	ID    int    `json:"id"`
	Start uint64 `json:"start"`          // clock ticks after boot; 0: unknown
	Boot  string `json:"boot,omitempty"` // names the start of the machine that both count from
	Mark  string `json:"mark,omitempty"` // in the environment of every member
}

// ToolCompleted is the one outcome of a call, in whatever way it ended. Node.
type ToolCompleted struct {
	Name    string          `json:"name"`
	Status  string          `json:"status"`            // ok, error, denied, timed_out, cancelled, interrupted, skipped
	Code    string          `json:"code,omitempty"`    // dry_run: skipped, since nothing was to be done
	Content string          `json:"content"`           // what the model reads, before it is wrapped
	Trusted bool            `json:"trusted,omitempty"` // the runtime's own words: not wrapped
	Bytes   int64           `json:"bytes"`             // of the whole output
	Cut     bool            `json:"cut,omitempty"`     // Content is not the whole output
	Output  *Output         `json:"output,omitempty"`  // the whole output, where Content is not it
	Meta    json.RawMessage `json:"meta,omitempty"`
	Images  []Image         `json:"images,omitempty"` // that the model gets after all results of the step
}

// Output names an output that was kept beside the record.
type Output struct {
	ID     string `json:"id"`
	Bytes  int64  `json:"bytes"`            // as kept, secrets masked
	Capped bool   `json:"capped,omitempty"` // there was more than is kept
}

// Statuses of a tool call.
const (
	StatusOK          = "ok"
	StatusError       = "error"
	StatusDenied      = "denied"
	StatusTimedOut    = "timed_out"
	StatusCancelled   = "cancelled"
	StatusInterrupted = "interrupted"
	StatusSkipped     = "skipped"
)

// QuestionAsked is committed before the question is shown.
type QuestionAsked struct {
	About    string   `json:"about"` // tool
	ToolCall string   `json:"tool_call,omitempty"`
	Name     string   `json:"name,omitempty"`
	Options  []string `json:"options"`          // yes, no: this call; always, never: Rule, for the turn; pattern: Rule, for the task; workspace, user: Rule, there
	Target   string   `json:"target,omitempty"` // what the call is about: a path, a command
	Show     string   `json:"show"`             // command or diff
	Dir      string   `json:"dir,omitempty"`    // as of the decision
	Reasons  []string `json:"reasons,omitempty"`
	Intent   string   `json:"intent,omitempty"` // why, in the model's words
	Rule     string   `json:"rule,omitempty"`   // what the answers that last are about
	Grade    string   `json:"grade,omitempty"`  // of a command
	Risk     []string `json:"risk,omitempty"`   // why it has that grade
	Found    []Effect `json:"found,omitempty"`  // what a command is found to do
	Taint    []Taint  `json:"taint,omitempty"`  // what of it stands in a text that no person wrote
	// Uncovered is what undo won't be able to take back: network, processes, outside (files outside the workspace), and what
	// [Uncovered] has. Undo: it covers what changes in the workspace.
	Uncovered []Uncovered `json:"uncovered,omitempty"`
	Undo      bool        `json:"undo,omitempty"`
}

// QuestionAnswered is what the person said. Choice void: the run ended first; none: nobody is there to answer any more.
type QuestionAnswered struct {
	Choice string `json:"choice"` // an option; void, none
	By     string `json:"by"`
	Scope  string `json:"scope,omitempty"` // of Rule: turn, task, workspace, user
	Rule   string `json:"rule,omitempty"`  // what is allowed or denied from now on
}

// Options of a question on a tool call.
const (
	AnswerYes       = "yes"
	AnswerNo        = "no"
	AnswerAlways    = "always"    // yes, and for the rest of the turn
	AnswerNever     = "never"     // no, and for the rest of the turn
	AnswerPattern   = "pattern"   // yes, and for the rest of the task
	AnswerWorkspace = "workspace" // yes, and in the workspace from now on
	AnswerUser      = "user"      // yes, and everywhere from now on
)

// What closes a question without an answer.
const (
	AnswerVoid = "void"
	AnswerNone = "none"
)

// QueueAdded keeps an input that came while a run was under way.
type QueueAdded struct {
	Mode string `json:"mode"` // steer: joins at the next step; follow: is the next turn's input
	Text string `json:"text"`
}

// QueueChanged changes what waits. A message.added that names the item delivers it.
type QueueChanged struct {
	State string `json:"state"` // queued, held (until a person releases it), removed
	By    string `json:"by"`    // person, runtime
}

// States of an item of the queue.
const (
	QueueQueued  = "queued"
	QueueHeld    = "held"
	QueueRemoved = "removed"
	QueueSent    = "sent"
)

// Modes of an item of the queue.
const (
	QueueSteer  = "steer"
	QueueFollow = "follow"
)

// PlanChanged is the to-do list of the task from now on, whole.
type PlanChanged struct {
	Items []PlanItem `json:"items"`
}

// PlanItem is a thing to do.
type PlanItem struct {
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	State string   `json:"state"`           // pending, active, done, dropped
	Needs []string `json:"needs,omitempty"` // ids of items that come before it
}

// States of an item of the plan.
const (
	PlanPending = "pending"
	PlanActive  = "active"
	PlanDone    = "done"
	PlanDropped = "dropped"
)

// Ready tells whether the item waits for nothing but somebody to begin it.
func (p PlanChanged) Ready(item PlanItem) bool {
	return item.State == PlanPending && len(p.Open(item)) == 0
}

// Open gives the ids that the item needs and that are neither done nor dropped.
func (p PlanChanged) Open(item PlanItem) []string {
	return slices.DeleteFunc(slices.Clone(item.Needs), func(id string) bool {
		return slices.ContainsFunc(p.Items, func(x PlanItem) bool {
			return x.ID == id && (x.State == PlanDone || x.State == PlanDropped)
		})
	})
}

// Unknown is a payload of a kind that this program does not know, kept as it was stored.
type Unknown struct {
	K   Kind
	Raw json.RawMessage
}

// Erased stands for a payload that was erased with its task.
type Erased struct{ K Kind }
