package i18n

// englishImage is what is said of pictures.
func englishImage() map[string]string {
	return map[string]string{
		"image.bad":          "--image %s: %s",
		"image.none":         "--image: the model %s takes no pictures (%s)",
		"image.none.hint":    "name another model with --model; `overt models` lists which take pictures, and providers.NAME.models in the settings says it better",
		"image.left":         "the model's server refused the pictures (%s); %s left out of the requests from here on",
		"image.known":        "the model is known to take no pictures; %s left out of the requests from here on",
		"image.refused":      "--image: the model's server refused the pictures of this task before, so these would not be sent",
		"image.refused.hint": "name another model with --model, or begin a new task",
		"image.count.one":    "1 picture is",
		"image.count":        "%d pictures are",
		"story.image":        "     pictures left out from here on: %d (%s)",
		"story.image.known":  "     pictures left out from here on: %d (the model is known to take none)",
		"run.hint.image":     "name a model that takes pictures: --model; `overt models` lists which do",
	}
}
