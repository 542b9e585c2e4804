package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/redact"
	"overt/internal/session"
	"overt/internal/store"
)

// userRecord is the person's own record, opened when it is first needed: most runs have no use for it.
type userRecord struct {
	dir     string
	mask    *redact.Masker
	version string

	mu sync.Mutex
	s  *store.Store
}

func newUserRecord(o Options, mask *redact.Masker) *userRecord {
	return &userRecord{dir: filepath.Join(o.State, "user"), mask: mask, version: o.Version}
}

// open opens the record, and makes it if there is none.
func (u *userRecord) open(ctx context.Context) (*store.Store, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.s != nil {
		return u.s, nil
	}
	s, err := store.Open(ctx, store.Options{Dir: u.dir, Mask: u.mask, Version: u.version})
	if err != nil {
		return nil, &UserRecordError{filepath.Join(u.dir, "overt.db"), err}
	}
	u.s = s
	return s, nil
}

// UserRecordError says that the record of what holds in every workspace, and of trust, can't be opened.
type UserRecordError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *UserRecordError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *UserRecordError) Unwrap() error { return e.Err }

// permissions gives those for the person; where there is no record there are none.
func (u *userRecord) permissions(ctx context.Context) ([]event.Fact, error) {
	if _, err := os.Stat(filepath.Join(u.dir, "overt.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s, err := u.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.Permissions(ctx)
	if err != nil {
		return nil, &UserRecordError{filepath.Join(u.dir, "overt.db"), err}
	}
	return list, nil
}

func (u *userRecord) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.s == nil {
		return nil
	}
	return u.s.Close()
}

// SavedRules gives the rules that were granted for a workspace and the person.
func SavedRules(ctx context.Context, o Options) ([]policy.Rule, error) {
	p, err := OpenPermissions(ctx, o, false)
	if err != nil {
		return nil, err
	}
	list, err := p.List(ctx)
	out := rulesOf(list, "")
	return out, errors.Join(err, p.Close())
}

// saved gives the rules that were granted for a task, the workspace and the person. Where they can't be read nothing is
// allowed any more: one that denies may be among them.
func saved(ctx context.Context, s *store.Store, u *userRecord, task string) []policy.Rule {
	here, err := s.Permissions(ctx)
	all, err2 := u.permissions(ctx)
	if err = errors.Join(err, err2); err != nil {
		return []policy.Rule{policy.Closed("(the saved permissions can't be read: " + err.Error() + ")")}
	}
	return rulesOf(permissions(append(all, here...)), task)
}

// rulesOf makes rules of what is kept, as far as it is about the task.
func rulesOf(list []Permission, task string) (out []policy.Rule) {
	for _, g := range list {
		if g.Scope == event.ScopeTask && g.Task != task {
			continue
		}
		r, err := policy.ParseRule(policy.Verdict(g.Verdict), g.Rule)
		if err != nil {
			r = policy.Closed("(the permission " + g.ID + " can't be read: " + err.Error() + ")")
		}
		r = r.Within(g.Given)
		if r.Origin = g.Question; r.Origin == "" {
			r.Origin = g.ID
		}
		out = append(out, r)
	}
	return out
}

// permissions reads facts.
func permissions(facts []event.Fact) (out []Permission) {
	for _, f := range facts {
		if g, ok := f.Data.(event.PermissionGranted); ok {
			out = append(out, Permission{ID: f.Subject, Task: f.Scope.Task, Time: f.Time, PermissionGranted: g})
		}
	}
	return out
}

// Permission is a rule that is kept, and where.
type Permission struct {
	ID   string // "": it stands in the settings
	Task string // of the scope task
	Time time.Time
	event.PermissionGranted
	Source config.Source // of one in the settings
}

// Permissions is what was granted for later: in the workspace's record, if there is one, and in the person's own.
type Permissions struct {
	session *session.Session
	store   *store.Store // nil: nothing is recorded of the workspace
	user    *userRecord
}

// OpenPermissions opens what was granted. Of the options it takes Root, State, Env, Version, Client and Config. begin says that a
// record of the workspace is to be made if there is none.
func OpenPermissions(ctx context.Context, o Options, begin bool) (*Permissions, error) {
	mask := redact.New()
	learnSecrets(mask, o.Config, o.Env)
	p := &Permissions{user: newUserRecord(o, mask)}
	var err error
	if begin {
		p.store, err = store.Open(ctx, store.Options{Dir: folder(o.State, o.Root), Mask: mask, Version: o.Version})
	} else if p.store, err = existing(ctx, store.Options{Dir: folder(o.State, o.Root), Mask: mask}, variables(o.Env)); errors.Is(err, ErrNoRecord) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	p.session = session.Open(session.Options{Store: p.store, Mask: mask, NewID: newID, Client: o.Client, Version: o.Version, Dir: o.Root, PID: os.Getpid(), User: p.user.open})
	return p, nil
}

// List gives what is in force, the oldest first: of the person, of the workspace, of its tasks.
func (p *Permissions) List(ctx context.Context) (out []Permission, err error) {
	facts, err := p.user.permissions(ctx)
	if err == nil && p.store != nil {
		var here []event.Fact
		here, err = p.store.Permissions(ctx)
		facts = append(facts, here...)
	}
	return permissions(facts), err
}

// Grant keeps a rule for the workspace or the person, and gives its id. If the same one holds there already, it is that one's id,
// and nothing is made.
func (p *Permissions) Grant(ctx context.Context, g event.PermissionGranted) (id string, made bool, err error) {
	list, err := p.List(ctx)
	if err != nil {
		return "", false, err
	}
	i := slices.IndexFunc(list, func(x Permission) bool {
		return x.Scope == g.Scope && x.Verdict == g.Verdict && x.Rule == g.Rule && slices.Equal(x.Given, g.Given)
	})
	if i >= 0 {
		return list[i].ID, false, nil
	}
	id, err = p.session.Grant(ctx, event.Scope{}, g)
	return id, err == nil, err
}

// SeveralPermissionsError says that a rule's text names more than one permission.
type SeveralPermissionsError struct {
	Rule string
	IDs  []string
}

// Error implements error.
func (e *SeveralPermissionsError) Error() string {
	return e.Rule + " is the rule of several permissions: " + strings.Join(e.IDs, ", ")
}

// Find gives the id of the permission that has this id, or alone has this rule. The error is a *[session.NoPermissionError] if there
// is none, a *[SeveralPermissionsError] if more than one has the rule.
func (p *Permissions) Find(ctx context.Context, named string) (string, error) {
	list, err := p.List(ctx)
	if err != nil {
		return "", err
	}
	rule := strings.TrimSpace(named)
	var ids []string
	for _, x := range list {
		if x.ID == named {
			return x.ID, nil
		}
		if x.Rule == rule {
			ids = append(ids, x.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", &session.NoPermissionError{ID: named}
	case 1:
		return ids[0], nil
	}
	return "", &SeveralPermissionsError{rule, ids}
}

// Revoke ends the permission with the id. The error is a *[session.NoPermissionError] if there is none.
func (p *Permissions) Revoke(ctx context.Context, id string) error {
	return p.session.Revoke(ctx, id, "person")
}

// Close closes the records.
func (p *Permissions) Close() error {
	err := p.user.close()
	if p.store != nil {
		err = errors.Join(err, p.store.Close())
	}
	return err
}
