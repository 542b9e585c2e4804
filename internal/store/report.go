package store

import (
	"slices"
	"strings"
)

// What can be wrong with a record: codes of a [Problem].
const (
	ProblemAbsent     = "absent"     // the file is gone or empty, though there was one
	ProblemNotOurs    = "foreign"    // the file is none of ours, or no database
	ProblemStranger   = "stranger"   // captures.db or files.db is of another record than overt.db, or overt.db of another workspace than captures.db
	ProblemNewer      = "newer"      // a newer program wrote the file
	ProblemFile       = "file"       // SQLite finds the file damaged
	ProblemGap        = "gap"        // facts are missing
	ProblemFact       = "fact"       // a fact can't be read
	ProblemText       = "text"       // a long text or picture is not what its hash says, or not there
	ProblemParent     = "parent"     // a node hangs below what is none of its thread's
	ProblemProjection = "projection" // a row is not what the facts say; it can be made anew
	ProblemBytes      = "bytes"      // what is kept of an exchange or output is not what its hash says, or not all there
	ProblemExchange   = "exchange"   // what is kept of an exchange is not what the fact says
)

// foreignText says of a sound database that it is another program's.
const foreignText = "it has no table of ours"

// Problem is one thing that is wrong with a record.
type Problem struct {
	Code   string `json:"code"`
	File   string `json:"file"`   // overt.db, captures.db, files.db
	Table  string `json:"table"`  // "": the file as a whole
	Row    string `json:"row"`    // number or id of the row; of a fact: its seq; "": not known
	Detail string `json:"detail"` // one line
}

// what is the problem in one line, but for the file.
func (p *Problem) what() string {
	if at := strings.TrimSpace(p.Table + " " + p.Row); at != "" {
		return at + ": " + p.Detail
	}
	return p.Detail
}

// CheckedFile is what was looked at.
type CheckedFile struct {
	Name    string `json:"file"`
	Present bool   `json:"present"` // and not empty
	Form    string `json:"form"`    // the newest migration that was applied
	Older   bool   `json:"older"`   // it is brought to the present form by the next program that works here; projections were not compared
	Rows    int64  `json:"rows"`    // facts, exchanges and outputs, or contents of files, that were read
}

// Report is the outcome of a check.
type Report struct {
	Files       []CheckedFile `json:"files"`
	Problems    []Problem     `json:"problems"`     // by file; at most 100 of each
	More        int           `json:"more"`         // problems beyond them
	Missing     int64         `json:"missing"`      // exchanges that the facts name and captures.db does not have: their bytes are gone, which is no problem
	Lost        int64         `json:"lost"`         // of them, those that were not pruned but went with captures.db: it is gone or empty, or was begun anew
	LostChanges int64         `json:"lost_changes"` // changes to files that can't be undone: files.db is gone or empty, or was begun anew
	Unknown     int64         `json:"unknown"`      // exchanges that belong to no call that the facts know: facts may have been lost, which is no problem of what is there
	Root        string        `json:"root"`         // the workspace that last worked in the record; "": not known
	TookMS      int64         `json:"took_ms"`
}

// OK tells whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// Record is the report but for files.db, which no backup has, and without which everything else can be used.
func (r *Report) Record() *Report {
	out := *r
	out.Problems = slices.DeleteFunc(slices.Clone(r.Problems), func(p Problem) bool { return p.File == filesFile })
	return &out
}

// States is the report on files.db alone.
func (r *Report) States() *Report {
	out := *r
	out.Problems = slices.DeleteFunc(slices.Clone(r.Problems), func(p Problem) bool { return p.File != filesFile })
	return &out
}

// Rebuildable tells whether all that is wrong with the record, see [Report.Record], can be made anew from the facts.
func (r *Report) Rebuildable() bool {
	for _, p := range r.Record().Problems {
		if p.Code != ProblemProjection {
			return false
		}
	}
	return true
}

// Newer tells whether a newer program has written a file: that one knows what else is wrong.
func (r *Report) Newer() bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Code == ProblemNewer })
}

// Strangers tells whether captures.db is of another record, or none of ours, and nothing else is wrong but what can be made anew: it can
// be moved away.
func (r *Report) Strangers() bool {
	strange := false
	for _, p := range r.Problems {
		switch {
		case p.File == capturesFile && (p.Code == ProblemStranger || p.Code == ProblemNotOurs && p.Detail == foreignText):
			strange = true
		case p.Code != ProblemProjection:
			return false
		}
	}
	return strange
}

// StrangeFacts tells whether overt.db is of another workspace, and nothing else is wrong but what can be made anew.
func (r *Report) StrangeFacts() bool {
	strange := false
	for _, p := range r.Problems {
		switch {
		case p.File == factsFile && p.Code == ProblemStranger:
			strange = true
		case p.Code != ProblemProjection:
			return false
		}
	}
	return strange
}

// StrangeFiles tells whether files.db is of another record than overt.db.
func (r *Report) StrangeFiles() bool { return r.has(filesFile, ProblemStranger) }

// Elsewhere tells whether overt.db is of another workspace than the files beside it, whatever else is wrong: no task goes on in it.
func (r *Report) Elsewhere() bool { return r.has(factsFile, ProblemStranger) }

func (r *Report) has(file, code string) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.File == file && p.Code == code })
}

// Captures tells whether nothing is wrong with overt.db but what can be made anew: without captures.db the record can be used.
func (r *Report) Captures() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.File == factsFile && p.Code != ProblemProjection })
}

// Gone tells whether overt.db is gone or empty, which leaves nothing else to be told.
func (r *Report) Gone() bool { return len(r.Problems) == 1 && r.Problems[0].Code == ProblemAbsent }
