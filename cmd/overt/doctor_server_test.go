package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// shop is a model server, or what stands in its place. It keeps what came.
type shop struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method and path of each request
	auth  []string // what Authorization held, where there was one
}

// openShop serves with h, over TLS where cert is given.
func openShop(t *testing.T, cert *tls.Certificate, h http.HandlerFunc) *shop {
	t.Helper()
	s := &shop{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		if a := r.Header.Get("Authorization"); a != "" {
			s.auth = append(s.auth, a)
		}
		s.mu.Unlock()
		h(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	if cert == nil {
		s.Start()
	} else {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *shop) seen() (asked, auth []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...), append([]string{}, s.auth...)
}

// goods answers as a model server that lists two models below /v1.
func goods(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"alpha-large"},{"id":"beta-small"}]}`)
	case r.URL.Path == "/v1/chat/completions":
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"message":"not found"}}`)
	}
}

// answers gives one answer to everything.
func answers(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// authority signs certificates that nobody knows but those who have its file.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.pem")}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Own Authority"}, NotBefore: time.Now().Add(-100 * time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &a.key.PublicKey, a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err == nil {
		err = os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sign makes a certificate for a name or an address that is valid for 50 hours around a moment.
func (a *authority) sign(name string, around time.Time) *tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: around.Add(-25 * time.Hour), NotAfter: around.Add(25 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tunnels is a proxy that lets every CONNECT through to one address.
func tunnels(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", to)
		if r.Method != http.MethodConnect || err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		fmt.Fprint(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(there, here)
			there.Close()
		}()
		io.Copy(here, there)
	}
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// hangs tells of a request and answers it only when its client has gone.
func hangs(asked chan<- bool) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- true:
		default:
		}
		<-r.Context().Done()
	}
}

// silent is the address of a listener that accepts and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // what it has not accepted goes with it
	return l.Addr().String()
}
