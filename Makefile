# make demo    see what toolman does, on a machine with only Go
# make test    everything that is tested
# make dist    the files of a release, in build/dist; VERSION=1.2.3 REPOSITORY=https://github.com/OWNER/toolman
# make lint    gofmt, go vet for three systems, staticcheck
# make bench   toolman against a direct connection and a relay, on pipes and over HTTP; prints the tables of fixtures/bench/README.md
# make bench-cluster    latency and throughput with 1, 2 and 3 replicas
# make fuzz    every fuzz target for FUZZTIME
# make soak    mixed traffic for SOAK, then hostile clients beside an honest one for as long: nothing lost, nothing grows
# make soak-cluster  replicas are killed for SOAK while clients of the official SDKs use them
# make soak-login    gateways that share a login are killed for SOAK, while their tokens are renewed
# make vuln    govulncheck, where its database can be reached

GO         ?= go
FUZZTIME   ?= 30s
SOAK       ?= 10m
# The program is 0.3 MB smaller if functions of the commands are not inlined. Those that read large
# traces, and those that forward, are. cmd/dist builds with the same flags.
GCFLAGS     = -gcflags=toolman/cmd/...=-l -gcflags=toolman/cmd/internal/traces/...=
BUILD       = CGO_ENABLED=0 $(GO) build -trimpath -ldflags=-s $(GCFLAGS)
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.1.4

.PHONY: build demo test dist lint bench bench-go bench-cluster fuzz soak soak-cluster soak-login vuln clean

build:
	$(BUILD) -o build/toolman ./cmd/toolman

demo: build
	@build/toolman demo

test:
	$(GO) test -race -timeout 20m ./...

dist:
	rm -rf build/dist
	$(GO) run ./cmd/dist $(if $(VERSION),-version $(VERSION)) $(if $(REPOSITORY),-repository $(REPOSITORY))

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./cmd/... ./jsonrpc/... ./mcpwire/... ./router/... ./spawn/...
	GOOS=windows $(GO) vet ./cmd/... ./jsonrpc/... ./mcpwire/... ./router/... ./spawn/...
	$(GO) run $(STATICCHECK) ./...

bench:
	$(BUILD) -o build/ ./cmd/toolman ./fixtures/bench/...
	build/bench -bin build -md -cpus 0
	build/bench -bin build -md

bench-go:
	$(GO) test -run '^$$' -bench . -benchmem ./jsonrpc/... ./router/...

bench-cluster: build
	TOOLMAN_E2E_BINARY=$(CURDIR)/build/toolman $(GO) test -run '^$$' -bench Replicas -benchtime 5000x ./fixtures/cluster

fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; \
	done

soak:
	$(GO) test -v -timeout 0 -run 'TestSoak|TestAThrong|TestSessions|TestHostile' ./fixtures/soak -soak $(SOAK)

soak-cluster:
	$(GO) test -v -timeout 0 -run 'TestReplicasAreKilled' ./fixtures/killtest -kill $(SOAK) -clients 64

soak-login:
	$(GO) test -v -timeout 0 -run 'TestGatewaysAreKilled' ./fixtures/logintest -kill $(SOAK) -every 5s

vuln:
	$(GO) run $(GOVULNCHECK) ./...

clean:
	rm -rf build
