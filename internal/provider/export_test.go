package provider

// ChatURL is for tests of what is only used inside.
func ChatURL(base string) (string, error) { return below(base, chatPath) }
