package i18n

// englishModels has the sentences on models.
func englishModels() map[string]string {
	return map[string]string{
		"models.columns":         "model|listed|window|output|images|levels|$ in / cached / to cache / out|from",
		"models.yes":             "yes",
		"models.no":              "no",
		"models.fact.window":     "window",
		"models.fact.max_output": "output",
		"models.fact.images":     "images",
		"models.fact.efforts":    "levels",
		"models.fact.prices":     "prices",
		"models.none":            "%s lists no model, and the catalogue of this program knows none there",
		"models.unfit":           "no model of %s fits %q",
		"models.unfit.unasked":   "%s did not list its models (%v), and the catalogue of this program knows none that fits %q",
		"models.unasked":         "%s did not list its models: %v",
		"models.catalogue":       "%s did not list its models (%v); this is what the catalogue of this program knows",
		"models.before":          "%s did not list its models (%v); this is what it said on %s, and what the catalogue of this program knows",
	}
}
