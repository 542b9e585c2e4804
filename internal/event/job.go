package event

// Kinds of facts about jobs: what a command has left running, or was started in the background.
const (
	KindJobStarted Kind = "job.started"
	KindJobEnded   Kind = "job.ended"
)

// JobStarted says that something goes on beyond its call, which is the subject. It is committed with the outcome of the call.
type JobStarted struct {
	Job     string `json:"job"` // job_1, job_2, … of the session
	Command string `json:"command"`
	Group   *Group `json:"group,omitempty"`
	Owner   *Group `json:"owner,omitempty"` // the program that watches over it
}

// JobEnded says that a job has ended. It is committed with the outcome of the next command, at the end of the program, or, after
// its death, by the next one.
type JobEnded struct {
	Job   string `json:"job"`
	State string `json:"state"`           // exit N, ended, ended by signal: …, timed out, closed (with the program), died (the program)
	Bytes int64  `json:"bytes,omitempty"` // of what it wrote
}

// Kind implements [Payload].
func (JobStarted) Kind() Kind { return KindJobStarted }
func (JobStarted) sealed()    {}

// Kind implements [Payload].
func (JobEnded) Kind() Kind { return KindJobEnded }
func (JobEnded) sealed()    {}
