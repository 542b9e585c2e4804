package i18n

// englishConfig is what is said of entries of providers and of what names them.
func englishConfig() map[string]string {
	return map[string]string{
		"config.quirk":               "%s has no member %q; it has %s",
		"config.quirk.like":          "%s has no member %q; %q is meant, perhaps (`overt config schema` has them all)",
		"config.providers.hint":      "`overt config schema` describes it",
		"config.base_url.like":       "did you mean %s ?",
		"config.file.variable.hint":  "export %s, or take it out of the file",
		"config.file.variable.entry": "export %s, or turn the entry off: \"enabled\": false in providers.%s",
		"config.dormant":             "%sthe environment variable %s is not set; that matters once providers.%s is used",
		"config.model_alone":         "%s names no model: write %s/MODEL",
		"config.model_alone.own":     "%s/ alone stands for its own: %s",
		"config.no_prefix":           "%s has no PROVIDER/; there are %s",
		"config.no_prefix.hint":      "write PROVIDER/%s, or give a base URL (base_url, --base-url), with which it is taken as it stands",
		"config.model_elsewhere":     "the model %s (%s) is one of the provider %s, and not taken for the base URL of this run",
	}
}
