# Targets of the project. None of them touches a person's data: everything is built below bin/ and .cache/, and tests and
# demonstrations that need a home make one of their own.

GO      ?= go
GOFLAGS_BUILD = -trimpath -ldflags="-s -w"
PKGS    ?= ./...
export CGO_ENABLED = 0

.PHONY: demo build quick test check bench fuzz generate clean setup

demo: build            ## repair a small project with the built-in scripted model
	bin/overt demo

build:                 ## bin/overt, one static binary
	$(GO) build $(GOFLAGS_BUILD) -o bin/overt ./cmd/overt

quick:                 ## all Go tests; needs Go and git only
	$(GO) vet $(PKGS)
	$(GO) test $(PKGS)

setup:                 ## what the full tests need beyond Go: gcc and python3, installed where that is possible
	scripts/setup

test: setup            ## everything: the tests under the race detector, and the checks
	$(GO) vet $(PKGS)
	scripts/test $(PKGS)

check:                 ## static checks, with the tools pinned in tools.mod
	$(GO) vet $(PKGS)
	$(GO) tool -modfile=tools.mod staticcheck $(PKGS)
	@out=$$($(GO) tool -modfile=tools.mod gofumpt -l .); test -z "$$out" || { echo "gofumpt would change:"; echo "$$out"; exit 1; }

bench: build           ## the figures of docs/targets.md, as ratios against bench/floor
	$(GO) run ./bench

fuzz:                  ## each fuzz target for FUZZTIME (default 30s)
	scripts/fuzz

generate:              ## documents that are made from the code
	$(GO) test ./internal/cli -run TestReference -update

clean:
	rm -rf bin .cache
