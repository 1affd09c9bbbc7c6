# Lectern's entry points; `make` alone lists them. Everything that is installed
# or built stays inside the project: node_modules, bin and .local.
SHELL := /bin/sh
.DEFAULT_GOAL := help

# Without a home folder, Go's and npm's caches live inside the project too.
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.local/home
export GOFLAGS := $(GOFLAGS) -modcacherw
endif

DATA ?= .local
GOLANGCI_VERSION := v2.15.0
GOLANGCI := .local/bin/golangci-lint-$(GOLANGCI_VERSION)
# What the Lambdas are built for: this machine, unless GOOS and GOARCH say otherwise.
TARGET = $(or $(GOOS),$(shell go env GOOS))-$(or $(GOARCH),$(shell go env GOARCH))
# Tests are linked without the tables of a debugger, which takes a third less time.
export GOFLAGS := $(strip $(GOFLAGS) -ldflags=-w)
ENGINE := node_modules/.package-lock.json
CDK := infra/node_modules/.package-lock.json
SCALAR := functions/root/assets/scalar.js.gz
FONTS := shared/typeset/assets
# The font that tools/fonts.mjs writes last.
LAST_FONT := $(FONTS)/NotoSansJP-Regular.ttf.gz
OBJECTS := .local/bin/versitygw-v1.8.0
# The programme that one test imports stands beside the project, where it does.
IMPORT := ../shared/data/google-io-2019.json
# Two packages at a time: the integration tests start an engine each.
# Four tests of a package at a time: most wait for an engine.
TEST := go test -p 2 -parallel 4 -timeout 20m $(if $(wildcard $(IMPORT)),,-skip TestImportGoogleIO)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Serve both regions on this machine, with a demo conference, until Ctrl-C.
	bin/lectern up --data $(DATA) $(ARGS)

.PHONY: stop
stop: ## Stop what `make run` started.
	@if [ -x bin/lectern ]; then bin/lectern stop --data $(DATA); fi

.PHONY: demo
demo: build ## Fill the demo event of the running service; what is there already stays.
	bin/lectern demo --data $(DATA)

.PHONY: test
test: setup $(OBJECTS) ## Run all tests at their short sizes.
	@[ -f $(IMPORT) ] || echo "$(IMPORT) is not there: TestImportGoogleIO is left out"
	$(TEST) ./...

.PHONY: test-area
test-area: setup $(OBJECTS) ## Run the integration tests of one area: make test-area AREA=sessions.
	@[ -n "$(AREA)" ] && [ -d localstack/test/it/$(AREA) ] || { echo "AREA is one of: $(notdir $(patsubst %/,%,$(wildcard localstack/test/it/*/)))" >&2; exit 1; }
	$(TEST) $(ARGS) ./localstack/test/it/$(AREA)

.PHONY: quick
quick: setup $(OBJECTS) ## Check what a change since main touches, in two minutes.
	go run ./tools/quick

.PHONY: bench
bench: functions $(OBJECTS) ## Measure every operation beside its floor and print the table of docs/performance.md.
	go run ./tools/bench
	@$(MAKE) --no-print-directory bench-aws bench-webhooks bench-logs bench-transcripts bench-bytes bench-agenda bench-insights

.PHONY: bench-largest
bench-largest: functions ## Measure the largest organization in what a Lambda of 512 MB has; needs Linux.
	go run ./tools/bench -largest

.PHONY: bench-webhooks
bench-webhooks: setup ## Measure how soon webhooks arrive, beside bad receivers too.
	go test ./tools/bench/webhooks -count 1 -timeout 1h -p 1 -parallel 1 -v -whole $(ARGS)

.PHONY: bench-logs
bench-logs: setup ## Measure how fast logs are exported.
	go test ./tools/bench/logs -count 1 -timeout 1h -p 1 -parallel 1 -v -whole $(ARGS)

.PHONY: bench-transcripts
bench-transcripts: setup ## Measure how fast the transcriptions of a long session are stored and read.
	go test ./tools/bench/transcripts -count 1 -timeout 1h -p 1 -parallel 1 -v -whole $(ARGS)

.PHONY: bench-bytes
bench-bytes: setup $(OBJECTS) ## Measure how fast bytes are stored, in one request and in parts.
	go test ./tools/bench/bytes -count 1 -timeout 1h -p 1 -parallel 1 -v -whole $(ARGS)

.PHONY: bench-agenda
bench-agenda: setup ## Measure the conflicts of a large agenda, a large draft, and the records of agenda planning and awards.
	go test ./shared/agenda/conflict -count 1 -run '^$$' -bench . $(ARGS)
	go test ./tools/bench/agenda -count 1 -timeout 1h -v -whole $(ARGS)

.PHONY: bench-insights
bench-insights: setup ## Measure queries about 10,000 sessions and 10,000 contacts.
	go test ./tools/bench/insights -count 1 -timeout 1h -p 1 -parallel 1 -v -whole $(ARGS)

# The short size takes half a minute: an instance of one room, and one of two rooms with a panel.
JUDGED := $(if $(filter 1,$(LECTERN_LONG)),-sizes "12 20 30 60 100 150" -seeds 2 -seconds 5,-sizes "12 30" -seeds 1 -seconds 2)
JUDGE_SECONDS := $(if $(filter 1,$(LECTERN_LONG)),60,10)

.PHONY: judge
judge: .local/judge/installed ## Hold proposed agendas against CP-SAT and print the table of docs/performance.md.
	go run ./tools/judge $(JUDGED) $(if $(wildcard $(IMPORT)),-google $(IMPORT)) > .local/judge/agendas.jsonl
	.local/judge/bin/python tools/judge/judge.py $(JUDGE_SECONDS) < .local/judge/agendas.jsonl

.local/judge/installed: tools/judge/requirements.txt
	python3 -m venv .local/judge
	.local/judge/bin/pip install --quiet --disable-pip-version-check --requirement tools/judge/requirements.txt
	@touch $@

.PHONY: fosite
fosite: ## Hold the refusals of OAuth against fosite, another authorization server, in a module of its own.
	cd tools/fosite && go vet ./... && go test -count 1 -v ./...

.PHONY: bench-aws
bench-aws: setup ## Measure what the service does where DynamoDB conflicts and throttles as on AWS.
	go test ./tools/bench/aws -count 1 -timeout 1h -v -whole $(ARGS)

.PHONY: cost
cost: setup ## Compute what the service costs on AWS, from the measured figures, into docs/operations.md.
	go run ./tools/cost -into docs/operations.md

.PHONY: golden
golden: setup ## Write the OpenAPI document, the route table, the page of queries and the schemas of webhooks again from the code, and print the lines a route.
	go test ./functions -update
	go test ./localstack/test/it/insights -run TestThePage -update
	go test ./events/schemas -run TestSchemasAndExamplesAreThoseOfTheDocument -update
	@go run ./tools/lines

.PHONY: lint
lint: setup $(GOLANGCI) ## Check form, imports and known mistakes.
	$(GOLANGCI) run ./...

.PHONY: build
build: setup $(OBJECTS) ## Build bin/lectern, and the S3 server that it starts.
	@go build -buildvcs=false -o bin/lectern ./localstack

# Lambda runs a binary as another user than the owner, so the mode does not follow the umask.
.PHONY: functions
functions: setup ## Build the Lambdas and the upload server for GOOS and GOARCH into dist.
	@CGO_ENABLED=0 go build -buildvcs=false -trimpath -tags lambda.norpc -ldflags '-s -w' -o .local/build/$(TARGET)/ ./functions/bootstrap/...
	@for binary in .local/build/$(TARGET)/*; do to=dist/$(TARGET)/$${binary##*/}; \
		mkdir -p $$to && { cmp -s $$binary $$to/bootstrap || install -m 755 $$binary $$to/bootstrap; } && \
		chmod 755 $$to/bootstrap || exit 1; done
	@install -m 644 functions/bootstrap/uploads/Dockerfile dist/$(TARGET)/uploads/Dockerfile

PROCESSES = LECTERN_FUNCTIONS=$(CURDIR)/dist/$(TARGET)

.PHONY: test-processes
test-processes: functions $(OBJECTS) ## Run the tests marked Everywhere against the Lambdas' own binaries.
	$(PROCESSES) $(TEST) -count 1 ./localstack/test/it/...
	$(PROCESSES) .ci/named TestUpRunsTheFunctionsAsProcesses ./localstack

.PHONY: app
app: setup $(CDK)
	@env -u GOOS -u GOARCH CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags '-s -w' -o bin/infra ./infra

# The name of the release, and the folder for its archive: the same commit gives the same bytes.
VERSION = $(shell git describe --tags --always --abbrev=12 --dirty=-changed)
RELEASES ?= releases

.PHONY: release
release: app ## Build what is deployed to AWS, the Lambdas for arm64 or GOARCH and the CDK app, and an archive of both.
	@$(MAKE) --no-print-directory functions GOOS=linux GOARCH=$(or $(GOARCH),arm64)
	@env -u GOOS -u GOARCH go run ./tools/release -version "$(VERSION)" -arch $(or $(GOARCH),arm64) -out "$(RELEASES)" \
		-time "$(shell git log -1 --format=%ct || echo 0)"

# The emulator runs functions on this machine.
.PHONY: test-deploy
test-deploy: app functions emulator ## Deploy to an emulator of AWS and run the tests marked Everywhere there.
	go run ./localstack/cloud/deploy .ci/deployed || failed=1; \
	go run ./localstack/cloud/deploy -every-option .ci/named TestTheTourOfTheREADME ./localstack || failed=1; \
	exit $${failed:-0}

# LocalStack runs functions in containers, on Linux. No run of this is on record.
LOCALSTACK := docker compose --file localstack/docker-compose.yml

.PHONY: test-localstack
test-localstack: app ## Do the same on LocalStack, where Docker is.
	@$(MAKE) --no-print-directory functions GOOS=linux
	trap '$(LOCALSTACK) down' EXIT INT TERM; $(LOCALSTACK) up --detach --wait && \
		go run ./localstack/cloud/deploy -endpoint http://localhost.localstack.cloud:4566 -functions dist/linux-$$(go env GOARCH) .ci/deployed

.PHONY: engines
engines: setup emulator ## Hold other engines of DynamoDB to the tests of the table; needs Java 17.
	.ci/engines

.PHONY: soak
soak: build app functions emulator python $(OBJECTS) ## Run all tests everywhere and at their long sizes, and the fuzzing, for hours.
	@$(MAKE) --no-print-directory -j 2 --output-sync=target soak-long soak-everywhere

# The two halves of soak, for two cores.
.PHONY: soak-long
soak-long:
	LECTERN_LONG=1 go test -p 1 -count 1 -timeout 4h ./...
	$(MAKE) --no-print-directory fuzz
	LECTERN_LONG=1 $(MAKE) --no-print-directory judge

# How long the parser of queries gets random texts.
FUZZ_TIME ?= 1h

.PHONY: fuzz
fuzz: ## Give the parser of queries random texts for an hour: make fuzz FUZZ_TIME=10m.
	go test ./shared/query -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZ_TIME)

.PHONY: soak-everywhere
soak-everywhere:
	LECTERN_AS_AWS=1 go test -p 1 -count 1 -timeout 1h ./localstack/test/it/...
	LECTERN_WHOLE=1 $(MAKE) --no-print-directory test-processes
	LECTERN_WHOLE=1 $(MAKE) --no-print-directory test-deploy
	LECTERN_LONG=1 $(PROCESSES) .ci/named TestNoFunctionHasAPermissionTooMany -timeout 2h ./localstack/test/it/access
	SCHEMATHESIS_EXAMPLES=500 .ci/schemathesis

.PHONY: clean
clean: stop ## Remove what was built and installed, and all local data.
	rm -rf bin dist node_modules infra/node_modules .local $(SCALAR) $(FONTS)/*.gz $(FONTS)/OFL-*.txt

.PHONY: setup
setup: $(ENGINE) $(SCALAR) $(LAST_FONT)

# clamd for the tests of the scanner, which are left out without it: 8 MB of Debian's packages.
.PHONY: clamav
clamav: .local/clamav/installed

.local/clamav/installed: .ci/clamav
	.ci/clamav

# What .ci/run, soak, engines and test-deploy take from PyPI; nothing else needs Python.
.PHONY: emulator
emulator: .local/emulator/installed

.local/emulator/installed: .ci/emulator-requirements.txt
	python3 -m venv .local/emulator
	.local/emulator/bin/pip install --quiet --disable-pip-version-check --requirement .ci/emulator-requirements.txt
	@touch $@

.PHONY: python
python: .local/venv/installed

.local/venv/installed: .ci/requirements.txt
	python3 -m venv .local/venv
	.local/venv/bin/pip install --quiet --disable-pip-version-check --requirement .ci/requirements.txt
	@touch $@

$(ENGINE): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel error
	@case "$$(uname -sm)" in "Linux x86_64") test -x node_modules/@dynoxide/linux-x64/dynoxide || { echo "npm left out the DynamoDB engine; run make again" >&2; exit 1; };; esac
	@mkdir -p $(@D) && touch $@

$(CDK): infra/package.json infra/package-lock.json
	npm ci --prefix infra --no-audit --no-fund --loglevel error
	@mkdir -p $(@D) && touch $@

$(SCALAR): tools/scalar.mjs
	node tools/scalar.mjs $@
	@touch $@

$(LAST_FONT): tools/fonts.mjs
	node tools/fonts.mjs $(FONTS)
	@touch $@

# The local S3 server, from a module of its own, so that its requirements are not the project's.
# About a minute, once.
$(OBJECTS): tools/versitygw/go.mod
	@env -u GOOS -u GOARCH go -C tools/versitygw build -mod=readonly -buildvcs=false -o "$(CURDIR)/$@" github.com/versity/versitygw/cmd/versitygw
	@touch $@

# Built and not downloaded, so that it is the same on every platform; a few
# minutes, once.
$(GOLANGCI):
	GOBIN="$(CURDIR)/.local/bin" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv .local/bin/golangci-lint $@
