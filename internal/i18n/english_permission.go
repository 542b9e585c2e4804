package i18n

// englishPermission is about rules that last.
func englishPermission() map[string]string {
	return map[string]string{
		"permission.which":  "overt permission takes list, add or rm",
		"permission.rule":   "overt permission add takes one rule; quote it: overt permission add 'run_command(go test:*)'",
		"permission.id":     "overt permission rm takes ids; overt permission list has them",
		"permission.none":   "no rules; what asks is decided by the permission profile alone",
		"permission.answer": "answered %s",
		"permission.added":  "added %s",

		"permission.kept.allow.workspace": "%s: allowed in this workspace: %s",
		"permission.kept.allow.user":      "%s: allowed in every workspace: %s",
		"permission.kept.deny.workspace":  "%s: denied in this workspace: %s",
		"permission.kept.deny.user":       "%s: denied in every workspace: %s",
		"permission.removed":              "%s: removed",

		"permission.unknown":      "no rule %s is in force",
		"permission.unknown.hint": "overt permission list has the ids; rules of the settings are changed there (overt config unset)",
	}
}
