package provider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"overt/internal/provider"
)

// TestModelsErrors: no error shows the URL, which may hold a user and a password.
// TestModelsRedirect: the look at the list goes nowhere else, not even to another port of the host, and says where to look.
func TestModelsRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with the key %q", r.Header.Get("Authorization"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "//", "//me:hunter2@", 1)+"/api"+r.URL.Path+"?key=hunter2", http.StatusMovedPermanently)
	}))
	defer server.Close()
	_, err := provider.Models(ctxOf(t), newWire(t, &sink{}).HTTP(), provider.Chat, server.URL, http.Header{"Authorization": {"Bearer key"}})
	if want := "the server redirects to " + other.URL + "/api/v1; set that as the base URL if you trust it"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestModelsErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/loop"):
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/odd"):
			w.Header().Set("Location", "ftp://me:hunter2@x/")
			w.WriteHeader(http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	c := newWire(t, &sink{})
	for _, base := range []string{"http://me:hunter2@127.0.0.1:1", "http://me:hunter2@" + host + "/loop", "http://me:hunter2@" + host + "/odd", "http://me:hunter2@" + host, "://me:hunter2@x"} {
		list, err := provider.Models(ctxOf(t), c.HTTP(), provider.Chat, base, http.Header{"Authorization": {"Bearer key"}})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "me:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", base, list, err)
		}
	}
}
