# `make help` lists the targets.
.POSIX:
.DEFAULT_GOAL := all

CARGO = cargo
PREFIX = /usr/local
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DESTDIR =
# The suites to run, by name: make test SUITE="nulls docs"
SUITE =

all: lib ## the library, into target/netlib

lib: ## the shared and the static library, as users get them
	@scripts/build-lib

header: ## writes what is generated from the sources: netlib.h, its list of exports, docs/status.md
	@$(CARGO) test --quiet --test contract -- bless

demo: ## an HTTPS download through a reset, a 503 and a redirect, with the trace of every decision
	@scripts/demo.sh

test: ## everything a change needs; SUITE="name …" runs a part
	@$(CARGO) test --quiet --test contract -- $(SUITE)

suites: ## the names of the test suites
	@$(CARGO) test --quiet --test contract -- list

clean: ## removes what was built
	$(CARGO) clean

fmt: ## formats the Rust sources
	$(CARGO) fmt

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do \
		printf '  make %-10s %s\n' "$$name" "$$what"; done

.PHONY: all lib header demo test suites clean fmt help
