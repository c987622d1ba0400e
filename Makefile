# `make help` lists the targets.
.DEFAULT_GOAL := all

CARGO = cargo
PREFIX = /usr/local
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DESTDIR =
# The suites to run, by name: make test SUITE="nulls docs"
SUITE =
# How long to fuzz, in all, and what: make fuzz SECONDS=600 TARGET="url head"
SECONDS = 60
TARGET =
# The tables to print, by name: make bench BENCH="url growth"
BENCH =

all: lib ## the library, into target/netlib

lib: ## the shared and the static library, as users get them
	@scripts/build-lib

header: ## writes what is generated from the sources: netlib.h, its list of exports, pages of docs/reference
	@$(CARGO) test --quiet --test contract -- bless

demo: ## HTTPS downloads: through a reset, a 503 and a redirect with the trace of every decision; by TLS in TLS through a proxy
	@scripts/demo.sh

test: ## everything a change needs; SUITE="name …" runs a part
	@$(CARGO) test --test contract -- $(SUITE)

test-all: ## the same, and the long ones: both halves with AddressSanitizer, with ThreadSanitizer
	@$(CARGO) test --test contract -- all

test-rest: ## what test-all has and test has not
	@$(CARGO) test --test contract -- rest

asan: ## the C tests with the library and the tests instrumented by AddressSanitizer
	@$(CARGO) test --test contract -- asan

tsan: ## the programs with threads, the library and they instrumented by ThreadSanitizer
	@$(CARGO) test --test contract -- tsan

audit: ## licences, sources and advisories of the dependencies, by cargo-deny; fetches the advisories
	@scripts/audit

fuzz: ## fuzzes the C functions for SECONDS=60 in all; TARGET="url head" fuzzes a part
	@scripts/fuzz $(SECONDS) $(TARGET)

bench: ## what it costs beside ada, the url crate, uriparser and libcurl; BENCH="url growth" runs a part
	@scripts/bench $(BENCH)

suites: ## the names of the test suites
	@$(CARGO) test --quiet --test contract -- list

install: lib ## DESTDIR= PREFIX=/usr/local LIBDIR=: library, links, header, netlib.pc
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" INCLUDEDIR="$(INCLUDEDIR)" scripts/install

clean: ## removes what was built
	$(CARGO) clean

fmt: ## formats the Rust sources
	$(CARGO) fmt

lint: ## rustfmt and clippy, warnings refused
	$(CARGO) fmt --check
	$(CARGO) clippy --quiet --all-targets -- -D warnings

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do \
		printf '  make %-10s %s\n' "$$name" "$$what"; done

.PHONY: all lib header demo test test-all test-rest asan tsan audit fuzz bench suites install clean fmt lint help
