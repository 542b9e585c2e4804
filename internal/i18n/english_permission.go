package i18n

// englishPermission is about rules that last.
func englishPermission() map[string]string {
	return map[string]string{
		"permission.which":  "overt permission takes list, add, rm, trust or untrust",
		"permission.rule":   "overt permission add takes one rule; quote it: overt permission add 'run_command(go test:*)'",
		"permission.id":     "overt permission rm takes ids or rules; overt permission list has them",
		"permission.none":   "no rules; what asks is decided by the permission profile alone",
		"permission.answer": "answered %s",
		"permission.added":  "added %s",

		"permission.kept.allow.workspace": "%s: allowed in this workspace: %s",
		"permission.kept.allow.user":      "%s: allowed in every workspace: %s",
		"permission.kept.deny.workspace":  "%s: denied in this workspace: %s",
		"permission.kept.deny.user":       "%s: denied in every workspace: %s",
		"permission.kept.before":          "%s (it was before, too)",
		"permission.removed":              "%s: removed",
		"permission.vain":                 "commands like this are graded high, and no rule allows those: they go on asking",

		"trust.nothing": "this workspace brings nothing along that could be trusted: there is no .overt in it",
		"trust.holds":   "trusted as it is, since %s",
		"trust.changed": "changed since it was trusted, %s:",
		"trust.create":  "new: %s",
		"trust.modify":  "changed: %s",
		"trust.delete":  "gone: %s",
		"trust.yes":     "nobody can be asked here; with --yes what stands above counts from now on",
		"trust.ask":     "trust this in %s? yes or no: ",
		"trust.no":      "not trusted",
		"trust.done":    "%s: trusted as it is",
		"trust.undone":  "%s: no longer trusted",
		"trust.none":    "this workspace is not trusted",
		"trust.unread":  "what this workspace brings along can't be trusted: %v",

		"permission.record":       "the record of your permissions and of trust can't be read: %s",
		"permission.record.hint":  "put a copy of yours in its place, or move %s away: what was allowed, denied and trusted everywhere is gone then",
		"permission.unknown":      "no rule %s is in force",
		"permission.several":      "%s is the rule of more than one: %s",
		"permission.several.hint": "name one by its id; overt permission list says which is which",
		"permission.unknown.hint": "overt permission list has the ids; rules of the settings are changed in the file that the list names",
	}
}
