package i18n

// english is the table of messages. Codes are the names that other packages use; the part before the first point says
// who speaks.
func english() map[string]string {
	return map[string]string{
		// configuration
		"config.one_of":        "%s is %q; it must be one of %s",
		"config.number":        "%s is %q; it must be a whole number, 0 or more",
		"config.rule_tool":     "rule %q: there is no tool %s; the tools are %s",
		"config.duration":      "%s is %q; it must be 0 or a time from 1s to a year, such as 90s or 1h30m",
		"config.bool":          "%s is %q; it must be true or false",
		"config.base_url":      "the base URL (%s) is not an http or https address with a host",
		"config.no_key":        "no model is configured: none of %s is set, and no --base-url is given",
		"config.preset_key":    "%s needs a key: set %s, or pass --api-key",
		"config.no_key.hint":   "set a key, or pass --base-url http://127.0.0.1:8080/v1 --model NAME for a local server; `overt demo` needs neither",
		"config.several_keys":  "%s selects the model; %s is set too (pass --model PROVIDER/MODEL to choose)",
		"config.rule":          "%s",
		"config.dir":           "-C %s: %s",
		"config.system_file":   "the system prompt can't be read: %s",
		"config.home":          "there is nowhere to keep the record: neither HOME nor XDG_STATE_HOME is an absolute path",
		"config.home.hint":     "set HOME, or XDG_STATE_HOME",
		"config.no_model":      "%s lists no model to take by itself: %s",
		"config.no_model.hint": "pass --model NAME",
		"config.one_model":     "model %s, the only one that %s lists",
		"config.continue":      "--continue and --resume can't be used together",

		// tasks
		"task.unknown":      "no task is named %q here",
		"task.missing":      "no task here yet",
		"task.unknown.hint": "`overt task list` shows the tasks of this workspace",
		"task.ambiguous":    "%q fits several tasks: %s",
		"task.no_calls":     "this task has made no model call yet",
		"task.calls.hint":   "`overt trace` lists them",
		"task.no_call":      "call %s: this task has %d calls",
		"task.no_call.one":  "call %s: this task has 1 call",
		"task.which":        "overt task takes list or show",
		"task.input.large":  "standard input is larger than %d MB; name a file instead",
		"task.input.read":   "standard input can't be read: %s",
		"task.empty":        "the prompt is empty",
		"task.empty.hint":   "overt \"what to do\", or overt --help",

		// runs
		"run.busy":             "workspace busy: process %d holds it for a %s since %s",
		"run.busy.unknown":     "workspace busy: another process is at work here",
		"run.busy.hint":        "wait for it to end, or read meanwhile: overt trace, overt task list",
		"run.interrupted":      "the last run here (overt task show %s) was interrupted; the outcome of what was running is unknown:",
		"run.interrupted.idle": "the last run here (overt task show %s) was interrupted; nothing was under way",
		"run.open.call":        "a model call (%s)",
		"run.open.ended":       "%s — it was still running and has been ended",
		"run.not_repeated":     "nothing of it was run again",
		"run.retry":            "the call failed (%s); trying again in %s s",
		"run.repaired":         "%d calls without a known result were answered for in the request",
		"run.cut":              "the answer was cut off: %s",
		"run.partial":          "what had arrived of the answer:",
		"run.failed":           "the run failed: %s",
		"run.cancelled":        "stopped",
		"run.stopping":         "stopping; press Ctrl-C again to leave at once",
		"run.steps.one":        "1 step",
		"run.steps.none":       "no answer",
		"run.steps":            "%d steps",
		"run.usage":            "%s tokens in (%s from cache), %s out",
		"run.usage.plain":      "%s tokens in, %s out",
		"run.usage.partial":    "at least %s tokens in, %s out (not every call reported)",
		"run.usage.unknown":    "tokens not reported",
		"run.denied":           "%d denied because nobody could be asked",
		"run.trace":            "overt trace %s",
		"run.http":             "HTTP %s: %s bytes sent, %s received, %s ms",
		"run.http.none":        "no response",
		"run.limit":            "%s",
		"run.hint.steps":       "go on with: overt --continue \"go on\", with a larger --max-steps",
		"run.hint.tokens":      "go on with: overt --continue \"go on\", with a larger --budget-tokens",
		"run.hint.files":       "go on with: overt --continue \"go on\", with a larger --budget-files",
		"run.hint.time":        "go on with: overt --continue \"go on\", with a larger --timeout",
		"run.hint.no-progress": "say what to do instead with: overt --continue \"…\"",
		"run.hint.auth":        "the key was refused: check --api-key, OVERT_API_KEY or the provider's own variable",
		"run.hint.redirect":    "pass the address that it points to with --base-url",
		"run.hint.overflow":    "start anew with a smaller task; compaction is not built yet",

		// tools
		"tool.denied.unasked":     "denied, since nobody can be asked",
		"tool.denied.rule":        "denied by %s",
		"tool.denied.profile":     "denied by the profile",
		"tool.denied.person":      "denied",
		"tool.allow.hint":         "to allow it: %s",
		"tool.allow.none":         "no rule can allow this; on a terminal you are asked (--permission full allows everything)",
		"tool.failed":             "failed: %s",
		"tool.more":               "… %d more lines",
		"tool.status.skipped":     "not run",
		"tool.status.cancelled":   "stopped",
		"tool.status.interrupted": "interrupted; the outcome is unknown",
		"tool.status.timed_out":   "timed out",

		// questions
		"question.ask":     "%s %s? yes or no:",
		"question.command": "run this command? yes or no:",
		"question.again":   "please type yes or no:",

		// why it is asked, beyond what the profile and the command itself say
		"reason.protected": "others run or obey this file later",
		"reason.secret":    "this file may hold credentials",
		"reason.unparsed":  "the command can't be read as shell",
		"reason.unclear":   "what the command runs is known only when it runs",
		"reason.hidden":    "the command holds characters that take no room on the screen",
		"reason.rule.ask":  "a rule says so",

		// the line prompt
		"prompt.banner": "overt %s, model %s, permission %s. Type a task; Ctrl-D leaves.",

		// demo
		"demo.cd":      "the demonstration lays a project of its own; -C does not go with it",
		"demo.label":   "This is a demonstration with a built-in scripted model: its replies are fixed beforehand, everything else is real.",
		"demo.project": "project: %s",
		"demo.passed":  "%s passes now",
		"demo.failed":  "the demonstration did not end with a passing test",
		"demo.next":    "look at every byte of it: %s",
		"demo.diff":    "what was changed:",

		// trace
		"trace.absent": "the capture of this call is missing: it was pruned or never written",

		"trace.columns":        "call|step|attempt|status|http|sent|shared|received|tokens in|out|first byte|time",
		"trace.call":           "%s  step %d, attempt %d, %s",
		"trace.request":        "%s %s",
		"trace.request.bytes":  "  %s bytes, %s shared with the call before",
		"trace.response":       "HTTP %d",
		"trace.response.none":  "no response",
		"trace.response.bytes": "  %s bytes, first byte after %s, %s in all",
		"trace.masked":         "  %d known secrets are masked in what is stored",
		"trace.error":          "  %s",
		"trace.bodies":         "bodies: --raw request, --raw response",
		"trace.raw":            "--raw takes request or response, and needs --call",
		"trace.raw.json":       "--raw and --json can't be used together",

		// a task, event by event
		"story.message":     "%s: %s",
		"story.tool":        "tool %s — %s",
		"story.outcome":     "     %s — %s",
		"story.change":      "     %s %s",
		"story.call":        "call failed: %s",
		"story.completed":   "completed, %s, %s",
		"story.failed":      "failed: %s",
		"story.interrupted": "interrupted: %s",

		// errors
		"usage.error":       "%s",
		"usage.hint":        "see overt --help",
		"usage.one_task":    "overt %s takes one task; quote a prompt: overt %q",
		"usage.meant":       "did you mean `overt %s`? (as a prompt: overt -- %q)",
		"error.output":      "the output can't be written: %s",
		"error.record":      "the record can't be kept: %s",
		"error.record.hint": "free some space or check the state folder: %s",
	}
}
