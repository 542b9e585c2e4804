package policy

import (
	"path"
	"slices"
	"strings"
)

// Protected tells whether writing the path, relative to the workspace, may make something run or be obeyed later:
// internals of Git and of Overt, hooks, shell start-up files, editor tasks, continuous integration, instructions to
// agents. Letter case does not count, since file systems exist that ignore it.
func Protected(p string) bool {
	parts := strings.Split(strings.ToLower(path.Clean(p)), "/")
	for i, name := range parts {
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		if protectedFolder(name, next) {
			return true
		}
	}
	return protectedFile(parts[len(parts)-1])
}

// Planted tells whether what is put at the path, relative to the workspace, may make something run or be obeyed later,
// where Git is let do its work: of a repository's own folder only hooks and configuration count, and what leads to others or to
// objects elsewhere.
func Planted(p string) bool {
	parts := strings.Split(strings.ToLower(path.Clean(p)), "/")
	i := slices.Index(parts, ".git")
	if i < 0 {
		return Protected(p)
	}
	rest := parts[i+1:]
	if len(rest) == 0 {
		return false
	}
	if LeadsToObjects(strings.Join(rest, "/")) {
		return true
	}
	special := []string{"hooks", "config", "config.worktree", "commondir", "gitdir", "info"}
	switch rest[0] {
	case "modules", "worktrees":
		for i, s := range rest[1:] {
			if slices.Contains(special, s) && (s != "info" || rest[i] != "objects") {
				return true
			}
		}
		return false
	}
	return slices.Contains(special, rest[0])
}

// LeadsToObjects tells whether a path in a repository is of a file by which Git takes objects from elsewhere, as if they were its own.
func LeadsToObjects(p string) bool {
	p = "/" + strings.ToLower(p)
	return strings.HasSuffix(p, "/objects/info/alternates") || strings.HasSuffix(p, "/objects/info/http-alternates")
}

// protectedFolder covers a folder with all that is in it; it also covers a file of that name (".git" of a worktree).
func protectedFolder(name, next string) bool {
	switch name {
	case ".git", ".overt", ".husky", ".githooks", ".vscode", ".idea", ".cursor", ".claude", ".devcontainer",
		".circleci", ".buildkite", ".ssh", ".aws", ".gnupg", ".kube":
		return true
	case ".github":
		return next == "workflows" || next == "actions" || next == "instructions" || next == "copilot-instructions.md"
	case ".config":
		return next == "fish" || next == "git" || next == "systemd" || next == "autostart"
	}
	return false
}

func protectedFile(name string) bool {
	return slices.Contains([]string{
		"agents.md", "claude.md", "claude.local.md", "overt.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules",
		".envrc", ".mcp.json", ".gitconfig", ".gitmodules", ".pre-commit-config.yaml", ".pre-commit-config.yml",
		".lefthook.yml", "lefthook.yml", ".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".login", ".inputrc",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
	}, name)
}

// Secret tells whether the path, relative to the workspace, is one that usually holds credentials. Letter case does
// not count.
func Secret(p string) bool {
	p = strings.ToLower(path.Clean(p))
	name := path.Base(p)
	switch name {
	case ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".vault-token",
		".dockercfg", ".yarnrc.yml", ".envrc", ".env~", ".dev.vars", ".my.cnf", ".s3cfg", ".boto", ".vault_pass", ".secrets", "kubeconfig", "kubeconfig.yaml", "kubeconfig.yml",
		"terraform.tfvars", "terraform.tfstate", "service-account.json", "service_account.json":
		return true
	}
	switch path.Ext(name) {
	case ".pem", ".p12", ".pfx", ".key", ".jks", ".keystore", ".kdbx", ".ppk", ".tfvars":
		return true
	case ".env": // production.env
		return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults"}, strings.TrimSuffix(name, ".env"))
	}
	for _, key := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, key) && path.Ext(name) != ".pub" {
			return true
		}
	}
	if strings.HasPrefix(name, ".") && strings.HasSuffix(name, "_history") || strings.HasPrefix(strings.TrimLeft(name, "."), "env.") && strings.HasSuffix(name, ".swp") {
		return true
	}
	if len(name) > 5 && strings.HasPrefix(name, ".env") && strings.IndexByte(".-_", name[4]) >= 0 {
		rest := name[5:]
		return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults"}, rest)
	}
	for _, folder := range strings.Split(path.Dir(p), "/") {
		if slices.Contains([]string{".ssh", ".aws", ".gnupg", ".kube", ".docker"}, folder) {
			return true
		}
	}
	switch path.Base(path.Dir(p)) + "/" + name {
	case ".composer/auth.json", "gh/hosts.yml":
		return true
	}
	return dataFile(name) && (strings.HasPrefix(name, "credentials") || strings.HasPrefix(name, "secrets.") || strings.HasPrefix(name, "secret.") || path.Base(path.Dir(p)) == "secrets")
}

// dataFile tells whether the name is one of data, so that source code about credentials stays readable.
func dataFile(name string) bool {
	return slices.Contains([]string{
		"", ".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".csv", ".txt", ".xml", ".properties", ".enc", ".db", ".bak",
	}, path.Ext(name))
}
