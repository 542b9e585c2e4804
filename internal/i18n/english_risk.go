package i18n

// englishRisk says what a command would do and how much may go wrong.
func englishRisk() map[string]string {
	return map[string]string{
		// what a command does, as far as it is known before it runs
		"reason.does.read":    "reads %s",
		"reason.does.write":   "changes %s",
		"reason.does.delete":  "deletes %s",
		"reason.does.run":     "runs %s",
		"reason.does.fetch":   "asks %s over the network",
		"reason.does.send":    "sends data to %s",
		"reason.does.elevate": "raises privileges with %s",
		"risk.somewhere":      "an address that is not known",
		"risk.final":          "%s; can't be undone",
		"risk.more":           "… and %d more",

		// why a command has its grade
		"risk.grade":               "risk %s",
		"risk.grade.why":           "risk %s: %s",
		"risk.unasked":             "runs unasked under %s",
		"risk.unasked.none":        "never runs unasked here",
		"risk.command":             "overt risk takes one command; quote it: overt risk %q",
		"risk.empty":               "the command is empty",
		"risk.input":               "standard input can't be read: %s",
		"reason.risk.unparsed":     "it can't be read as shell to its end",
		"reason.risk.hidden":       "it holds characters that take no room on the screen",
		"reason.risk.unresolved":   "something in it is known only when it runs",
		"reason.risk.unknown":      "it runs a program that is not known here",
		"reason.risk.option":       "it uses an option that is not known here",
		"reason.risk.project":      "it runs code of the project",
		"reason.risk.code":         "it runs code in another language, which is not read",
		"reason.risk.unseen":       "it runs what can't be seen beforehand",
		"reason.risk.downloaded":   "it runs what comes from elsewhere",
		"reason.risk.changes":      "it changes files",
		"reason.risk.destroys":     "it destroys work",
		"reason.risk.outside":      "it changes something outside the workspace",
		"reason.risk.outside_read": "it reads something outside the workspace",
		"reason.risk.secret":       "it may show credentials",
		"reason.risk.leak":         "it may show credentials, and uses the network",
		"reason.risk.protected":    "it touches what others run or obey later",
		"reason.risk.network":      "it uses the network",
		"reason.risk.sends":        "it sends data out",
		"reason.risk.privilege":    "it raises privileges",
		"reason.risk.system":       "it acts on the whole machine",
		"reason.risk.processes":    "it acts on other processes",
		"reason.risk.variable":     "it sets a variable that changes what programs do",
		"reason.risk.config":       "git may run programs that the repository, or one in it, brings along",
		"reason.risk.deep":         "it is longer or deeper nested than is looked into",
		"reason.risk.taint":        "goes where a text says that nobody here wrote",
		"risk.taint":               "%q stands in what %s gave",
		"reason.risk.model":        "the model itself grades it higher",
	}
}
