package event

// Scopes of a permission that lasts.
const (
	ScopeTask      = "task"
	ScopeWorkspace = "workspace"
	ScopeUser      = "user" // every workspace of the person
)

// PermissionGranted is a rule that a person has made for later, beside those of the settings. Its subject is its id. One for a
// task is a fact of the task, one for the workspace of none; one for the user stands in the person's own record.
type PermissionGranted struct {
	Rule    string `json:"rule"`    // as written
	Verdict string `json:"verdict"` // allow, ask, deny
	// Given are the words of the command that the person agreed to, where the rule comes from a question: it lets no other
	// options through, and no other path that leads out of the workspace.
	Given    []string `json:"given,omitempty"`
	Scope    string   `json:"scope"`
	Question string   `json:"question,omitempty"` // whose answer it is
	By       string   `json:"by"`
}

// WorkspaceTrusted says that a person lets what a workspace brings along count and run, as it is now. It stands in the person's
// own record, and its subject is the workspace's root. Without a digest it takes an earlier one back.
type WorkspaceTrusted struct {
	Digest string        `json:"digest,omitempty"` // SHA-256 over the files
	Files  []TrustedFile `json:"files,omitempty"`
	By     string        `json:"by"`
}

// TrustedFile is a file that a person has looked at.
type TrustedFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Text   string `json:"text,omitempty"` // of a short one, to show later what has changed
}

// PermissionRevoked ends the permission that is its subject.
type PermissionRevoked struct {
	By string `json:"by"`
}
