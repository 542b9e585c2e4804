package app

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"overt/internal/config"
	"overt/internal/provider"
)

// probed is what was measured of a model behind an endpoint, as it is kept: one file for each protocol, base URL and model, in the folder
// of the person's state. It stands over what this program knows of the server, and below what the person's file says.
type probed struct {
	Endpoint string          `json:"endpoint"`
	Protocol string          `json:"protocol"`
	Model    string          `json:"model"`
	At       time.Time       `json:"at"`
	By       string          `json:"by"` // see below
	Quirks   json.RawMessage `json:"quirks,omitempty"`
	Images   *bool           `json:"images,omitempty"`
	// Tools and Looked: whether tools and pictures are taken was measured: the server has answered, in whatever way.
	Tools  bool `json:"tools,omitempty"`
	Looked bool `json:"looked,omitempty"`
}

// What measured it.
const (
	byProbe  = "probe"  // overt probe
	byFirst  = "first"  // before a first request
	byServer = "server" // the server's refusal of a request of a task
)

// maxProbed bounds, in bytes, the file of a probe.
const maxProbed = 64 << 10

// newProbed names what is measured.
func newProbed(c *config.Config, model, by string) probed {
	return probed{Endpoint: plainURL(c.BaseURL.Value), Protocol: c.Protocol.Value, Model: model, At: time.Now().UTC(), By: by}
}

func (p probed) file(state string) string {
	sum := sha256.Sum256([]byte(p.Protocol + "\n" + p.Endpoint + "\n" + p.Model))
	return filepath.Join(probeFolder(state), fmt.Sprintf("%x.json", sum[:8]))
}

// probeFolder is where all of them are.
func probeFolder(state string) string { return filepath.Join(state, "user", "probes") }

// readProbed reads what was measured; false: nothing was, or it can't be read, and may be measured again.
func readProbed(state string, c *config.Config, model string) (probed, bool) {
	want := newProbed(c, model, "")
	p, ok := readProbedFile(want.file(state))
	if !ok || p.Endpoint != want.Endpoint || p.Protocol != want.Protocol || p.Model != want.Model {
		return probed{}, false
	}
	return p, true
}

func readProbedFile(path string) (probed, bool) {
	f, err := os.Open(path)
	if err != nil {
		return probed{}, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxProbed {
		return probed{}, false
	}
	var p probed
	if json.NewDecoder(f).Decode(&p) != nil {
		return probed{}, false
	}
	if len(p.Quirks) > 0 && provider.CheckMembers(p.Quirks) != nil {
		return probed{}, false
	}
	return p, true
}

// write keeps it, whole or not at all.
func (p probed) write(state string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return writeState(p.file(state), text)
}

// learn puts in what a probe found, beside what is there.
func (p *probed) learn(r *provider.Probed) error {
	all := map[string]any{}
	if len(p.Quirks) > 0 {
		if err := json.Unmarshal(p.Quirks, &all); err != nil {
			return err
		}
	}
	if result := r.Result("tools"); (result == provider.Supported || result == provider.Taken) && all["tools"] == provider.InText {
		delete(all, "tools") // it was otherwise before
	}
	maps.Copy(all, r.Quirks)
	p.Quirks = nil
	if len(all) > 0 {
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		p.Quirks = text
	}
	if r.Images != nil {
		p.Images = r.Images
	}
	p.Tools = p.Tools || r.Measured("tools")
	p.Looked = p.Looked || r.Measured("images")
	return nil
}

// applyQuirks changes a profile as an object says, which [provider.CheckMembers] has nothing against.
func applyQuirks(p *provider.Profile, object []byte) error { return json.Unmarshal(object, p) }

// writeState writes a file of the person's state, whole or not at all, for its owner alone.
func writeState(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
