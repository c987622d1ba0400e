# `make help` lists the targets.
.DEFAULT_GOAL := all
# `make -j` describes its jobserver in these variables, but gives the descriptors only to recipes that call make. cargo
# would print a warning.
unexport MAKEFLAGS MFLAGS

CARGO = cargo
PREFIX = /usr/local
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DOCDIR = $(PREFIX)/share/doc/netlib
MANDIR = $(PREFIX)/share/man
DESTDIR =
DIRECTORIES = DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" INCLUDEDIR="$(INCLUDEDIR)" \
	DOCDIR="$(DOCDIR)" MANDIR="$(MANDIR)"
# The names of the suites to run: make test SUITE="nulls docs"
SUITE =
# The total number of seconds, and the names of the targets to fuzz: make fuzz SECONDS=600 TARGET="url head"
SECONDS = 60
TARGET =
# The names of the benchmarks to run: make bench BENCH="url growth"
BENCH =
# An earlier build: make bench BEFORE=/path/to/libnetlib.so
BEFORE =

all: lib man ## builds the library into target/netlib, and the man pages into target/man

lib: ## builds the shared and the static library
	@scripts/build-lib

man: ## writes the man pages into target/man
	@scripts/man

site: ## writes the documents and a page for each function as HTML into target/site, with mdBook
	@scripts/site

header: ## generates the files of include and pages of docs/reference from the sources; then `make abi`
	@$(CARGO) test --quiet --test contract -- bless
	@if command -v abidw >/dev/null; then $(CARGO) test --quiet --test contract -- record-abi; \
	else echo "note: abidw is not installed, so abi/ is unchanged"; fi

pictures: ## records the output of the demo in docs/pictures, then draws the pictures of the documentation
	@$(CARGO) test --quiet --test contract -- all record-demo
	@$(CARGO) test --quiet --test contract -- bless

storm: ## simulates a thousand clients of an overloaded server with each retry policy; prints a table, and draws plots into docs/pictures
	@$(CARGO) test --quiet --test contract -- all record-storm
	@$(CARGO) test --quiet --test contract -- bless

abi: ## records the ABI of netlib.h in abi/; refuses a change that breaks the ABI of a release
	@$(CARGO) test --quiet --test contract -- record-abi

demo: ## runs HTTPS downloads through resets, a 503, a redirect and a TLS proxy, with a trace of every decision
	@scripts/demo.sh

test: ## runs the short suites on the development build; SUITE="name …" runs the named ones; BEFORE=/path/to/libnetlib.so compares with that build of netlib instead
	@# In one command, cargo compiles the unit tests beside the other targets.
	@$(if $(SUITE),:,$(CARGO) test --lib --test contract --no-run)
	@$(CARGO) test --quiet --test contract -- $(SUITE)

test-all: ## runs every suite on the release build; SUITE="name …" runs the named ones
	@$(CARGO) test --quiet --test contract -- all $(SUITE)

bindings: ## builds the bindings for other languages, runs the scenario in each, and writes the table of results
	@scripts/prerequisites bindings
	@$(CARGO) test --quiet --test contract -- all languages; status=$$?; \
		cp target/bindings/results.md docs/reference/bindings-results.md; exit $$status

package-check: ## runs what is too slow for test-all: C++ with each compiler, version and sanitizer; archives, packages, offline builds, the README's commands
	@scripts/prerequisites package
	@$(CARGO) test --quiet --test contract -- all cpp-all site
	@scripts/package-check

cross: ## tests or type-checks the targets of docs/reference/platforms.md; takes many minutes; first: scripts/prerequisites cross
	@scripts/cross

changed-machine: ## runs the short suites with other resolvers, without IPv6, in other locales, …; needs root; takes an hour or more; first: scripts/prerequisites changed-machine
	@SUITE="$(SUITE)" scripts/changed-machine

asan: ## runs the C tests with AddressSanitizer in the library and the tests
	@$(CARGO) test --quiet --test contract -- asan

tsan: ## runs the threaded programs with ThreadSanitizer in the library and the programs
	@$(CARGO) test --quiet --test contract -- tsan

msrv: ## compiles the library with the oldest supported Rust version
	@scripts/msrv

audit: ## checks licences, sources and advisories of the dependencies with cargo-deny; needs the network
	@scripts/audit

fuzz: ## fuzzes the C functions for SECONDS=60 in total; TARGET="url head" fuzzes the named targets
	@scripts/fuzz $(SECONDS) $(TARGET)

bench: ## compares the speed with ada, the url crate, uriparser and libcurl; BENCH="url growth" runs the named ones
	@NETLIB_BEFORE=$(BEFORE) scripts/bench $(BENCH)

suites: ## lists the test suites
	@$(CARGO) test --quiet --test contract -- list

install: ## installs libraries, headers, netlib.pc, CMake files and docs; DESTDIR= PREFIX=/usr/local LIBDIR= INCLUDEDIR= DOCDIR= MANDIR=
	@$(DIRECTORIES) scripts/install

install-strip: ## installs, with the symbol tables removed by STRIP=strip
	@$(DIRECTORIES) scripts/install strip

uninstall: ## removes what install has installed with the same directories
	@$(DIRECTORIES) scripts/install uninstall

dist: ## writes the source archive with all crates into target/dist
	@scripts/dist

release: ## writes binary archives for glibc 2.17, with checksums and bills of materials, into target/dist
	@scripts/release

clean: ## removes all build output
	$(CARGO) clean

fmt: ## formats the Rust and C sources
	@scripts/lint fix

lint: ## checks with rustfmt, clippy, clang-format and shellcheck
	@scripts/lint

help: ## lists the targets
	@LC_ALL=C sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

.PHONY: all lib man site header pictures storm abi demo test test-all bindings package-check cross changed-machine asan tsan msrv audit fuzz bench suites install install-strip uninstall dist release clean fmt lint help
