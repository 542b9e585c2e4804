package event

// Kinds of facts about jobs: what a command has left running, or was started in the background.
const (
	KindJobStarted Kind = "job.started"
	KindJobEnded   Kind = "job.ended"
)

// WithProgram is the state of a job that ended because its program did.
const WithProgram = "with the program"

// JobStarted says that something goes on beyond its call, which is the subject. It is committed with the outcome of the call.
type JobStarted struct {
	Job     string `json:"job"` // job_1, job_2, … of the session
	Command string `json:"command"`
	Group   *Group `json:"group,omitempty"`
	Owner   *Group `json:"owner,omitempty"` // the program that watches over it
}

// JobEnded says that a job has ended. It is committed with the outcome of the next command; a job that ended with the program
// that watched over it, by the next one.
type JobEnded struct {
	Job   string `json:"job"`
	State string `json:"state"`           // exit N, ended, ended by signal: NAME, timed out, with the program
	Bytes int64  `json:"bytes,omitempty"` // that it wrote
}

// Kind implements [Payload].
func (JobStarted) Kind() Kind { return KindJobStarted }
func (JobStarted) sealed()    {}

// Kind implements [Payload].
func (JobEnded) Kind() Kind { return KindJobEnded }
func (JobEnded) sealed()    {}
