# SPDX-License-Identifier: Apache-2.0
#
# The whole build of Crest, in one file and without recursion. Sources are found by wildcard, so a
# new file needs no line here; objects go below build/<variant>/, one variant for each combination
# of compiler, SAN and DEBUG, so that switching back and forth never mixes objects.
#
#   make help                          what there is
#   make CC=clang                      another compiler             -> build/release-clang
#   make SAN=address,undefined check   with sanitizers              -> build/asan
#   make DEBUG=1                       unoptimised                  -> build/debug
#   make coverage                      counting what the tests run  -> build/coverage
#
# Nothing here asks pkg-config or the compiler anything while this file is being read: on a fresh
# machine `make check` starts before either is installed, and installs them first.

VERSION   := 0.1.0
SOVERSION := 0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---- settings a caller may change -----------------------------------------------------------------

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
endif
ifeq ($(origin AR),default)
# objects of gcc's link-time optimisation are listed by the archiver that knows them
AR := $(if $(and $(findstring -flto,$(CFLAGS)),$(findstring gcc,$(CC))),gcc-ar,ar)
endif

PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
SAN     ?=
DEBUG   ?=
WERROR  ?=
COVERAGE ?=
CFLAGS   ?= $(OPTIMISE)
CXXFLAGS ?= $(OPTIMISE)

OPTIMISE := $(if $(DEBUG),-O0 -g3,$(if $(SAN)$(COVERAGE),-O1 -g,-O2 -g))

CK_LIBS        ?= -lck
CURL_LIBS      ?= -lcurl
MHD_LIBS       ?= -lmicrohttpd
ZLIB_LIBS      ?= -lz
LMDB_LIBS      ?= -llmdb
CMOCKA_LIBS    ?= -lcmocka
BENCHMARK_LIBS ?= -lbenchmark
PROMETHEUS_LIBS ?= -lprometheus-cpp-core

# ---- the variant ----------------------------------------------------------------------------------

comma := ,
empty :=
space := $(empty) $(empty)

san_name  := $(if $(SAN),$(if $(findstring thread,$(SAN)),tsan,$(if $(findstring address,$(SAN)),asan,$(subst $(comma),-,$(SAN)))))
base_name := $(or $(subst $(space),-,$(strip $(san_name) $(if $(DEBUG),debug) $(if $(COVERAGE),coverage))),release)
cc_name   := $(notdir $(firstword $(CC)))
VARIANT   := $(base_name)$(if $(filter-out gcc cc,$(cc_name)),-$(cc_name))
B         := build/$(VARIANT)
OBJ       := $(B)/obj
LIB       := $(B)/lib

# ---- flags ----------------------------------------------------------------------------------------

warnings   := -Wall -Wextra -Wshadow $(if $(WERROR),-Werror)
warnings_c := $(warnings) -Wstrict-prototypes -Wmissing-prototypes
san_flags  := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
              $(if $(COVERAGE),--coverage -fprofile-update=atomic)

ALL_CFLAGS   = -std=gnu11 $(warnings_c) $(san_flags) $(CFLAGS)
ALL_CXXFLAGS = -std=gnu++17 $(warnings) $(san_flags) $(CXXFLAGS)
ALL_LDFLAGS  = $(san_flags) $(LDFLAGS)
make_deps    = -MMD -MP -MF $(@:.o=.d)

# One set of position-independent objects serves both the archive and the shared library. On x86-64
# and arm64 that costs nothing measurable, a static archive has to go into PIEs anyway, and it keeps
# the two from ever differing. The linker relaxes the initial-exec accesses when it can.
# No exported function of ours may be replaced by another library's: so they may be inlined into
# each other, which halves the cost of the exported forms of the hot path.
lib_flags := -fPIC -fvisibility=hidden -fno-semantic-interposition \
             -ftls-model=initial-exec -DCREST_BUILDING \
             -DCREST_BUILD_VERSION='"$(VERSION)"'

# Includes name the room, so that an arrow is seen in the text; reporters see public headers only.
inc_src       := -Iinclude -Isrc
inc_reporters := -Iinclude -Ireporters
inc_public    := -Iinclude
inc_tests     := -Iinclude -Isrc -Ireporters -Itests

# A library whose threads run its destructors must not be unmapped by dlclose: nodelete. Clang keeps
# the sanitizer runtime in the program, so there the library's references to it stay open.
# -Bsymbolic-functions: of two copies in one process each uses its own functions and its own
# thread-local pointer; data that programs copy (the buckets, the clock's scale) remains one.
no_undefined := -Wl,-z,defs
so_flags := -shared -Wl,-z,relro,-z,now,-z,nodelete,--as-needed,-Bsymbolic-functions \
            $(if $(and $(SAN),$(findstring clang,$(CC))),,$(no_undefined))

# ---- what there is to build -----------------------------------------------------------------------

HEADERS       := $(wildcard include/crest/*.h)
base_src      := $(wildcard src/base/*.c)
core_src      := $(filter-out $(base_src),$(wildcard src/*/*.c src/*/*/*.c))
reporters_src := $(wildcard reporters/*.c reporters/*/*.c)
examples_src  := $(wildcard examples/*.c)
node_src      := $(wildcard examples/node/*.c)
demo_src      := $(wildcard examples/demo/*.c)
unit_src      := $(foreach depth,* */*,$(wildcard tests/unit/$(depth)/test_*.c tests/unit/$(depth)/test_*.cc))
conc_src      := $(wildcard tests/concurrency/test_*.c)
integ_src     := $(wildcard tests/programs/*.c)
fuzz_src      := $(wildcard tests/fuzz/fuzz_*.c)
side_src      := $(wildcard bench/side/*.cc)
sides         := crest whole
# a peer is compiled only when its side asks for it: its headers may be missing
cpp_peer_src  := $(wildcard bench/peers/prometheus-cpp/*.cc)
started_src   := $(wildcard bench/whole/start_up/*.c)

objects = $(patsubst %,$(OBJ)/%.o,$(basename $(1)))

base_obj      := $(call objects,$(base_src))
core_obj      := $(call objects,$(core_src))
reporters_obj := $(call objects,$(reporters_src))
link_obj      := $(if $(reporters_src),$(call objects,pkgconfig/reporters_link.c))
lib_obj       := $(base_obj) $(core_obj) $(reporters_obj)
node_obj      := $(call objects,$(node_src))
started_obj   := $(call objects,$(started_src))
side_obj      := $(call objects,$(side_src))
limits_obj    := $(OBJ)/bench/crest/so/limits_so.o
sides_obj     := $(side_obj) $(call objects,$(foreach s,$(sides),$(wildcard bench/$(s)/*.c bench/$(s)/*.cc)))
cpp_peer_obj  := $(call objects,$(cpp_peer_src))
public_obj    := $(call objects,$(examples_src) $(demo_src)) $(node_obj)
test_obj      := $(call objects,$(unit_src) $(conc_src) $(integ_src) $(fuzz_src) $(if $(fuzz_src),tests/fuzz/replay_corpus.c))
off_obj       := $(patsubst $(OBJ)/%,$(OBJ)/disabled/%,$(node_obj))
all_obj       := $(lib_obj) $(link_obj) $(public_obj) $(off_obj) $(test_obj) $(sort $(started_obj) $(sides_obj) $(limits_obj) $(cpp_peer_obj))

programs = $(patsubst %,$(B)/%,$(basename $(1)))

EXAMPLES   := $(call programs,$(examples_src) $(demo_src))
NODE       := $(if $(node_src),$(B)/examples/node/node)
OFF_NODE   := $(B)/disabled/examples/node/node
UNIT_TESTS := $(call programs,$(unit_src))
CONC_TESTS := $(call programs,$(conc_src))
FUZZ_TESTS := $(call programs,$(fuzz_src))
INTEG_BINS := $(call programs,$(integ_src))
SIDES      := $(sides:%=$(B)/bench/%)
CPP_PEER   := $(B)/bench/prometheus-cpp
STATIC_METRICS ?= 10000
STARTED    := $(addprefix $(B)/bench/started-,without $(sort 0 $(STATIC_METRICS)))

fuzz_replay  := tests/fuzz/replay_corpus.c
FUZZ_B       := build/fuzz
FUZZ_CC      ?= clang
FUZZ_TIME    ?= 60
FUZZ_TARGETS := $(sort $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_src)))
FUZZERS      := $(FUZZ_TARGETS:%=$(FUZZ_B)/fuzz_%)
fuzz_lib_obj := $(patsubst %.c,$(FUZZ_B)/obj/%.o,$(base_src) $(core_src) $(reporters_src))
fuzz_flags   := -fsanitize=fuzzer
fuzz_san     := ,address,undefined -fno-sanitize-recover=all

# made when all of them are
twins        := build/include/made
# libraries whose sources are there; the names are fixed, the list is what `all` builds
crest_so     := $(LIB)/libcrest.so
reporters_so := $(LIB)/libcrest-reporters.so
crest_a      := $(LIB)/libcrest.a
reporters_a  := $(LIB)/libcrest-reporters.a
link_a       := $(LIB)/libcrest-reporters-link.a
LIBRARIES    := $(if $(core_src)$(base_src),$(crest_a) $(crest_so)) \
                $(if $(reporters_src),$(reporters_a) $(reporters_so) $(link_a))

# What a program built in this tree links with: both archives, so that it runs without
# LD_LIBRARY_PATH. Reporters register themselves from a constructor nobody calls by name, so the
# archive member that holds it is asked for by name, as crest-reporters.pc does.
keep_reporters := -Wl,--undefined=crest_reporters_linked
link_archive  = $(if $(reporters_src),$(keep_reporters) $(reporters_a)) \
                $(if $(core_src)$(base_src),$(crest_a)) \
                $(if $(reporters_src),$(CURL_LIBS) $(MHD_LIBS) $(ZLIB_LIBS)) $(CK_LIBS) -lpthread
need_archive := $(filter-out $(link_a),$(filter %.a,$(LIBRARIES)))

# ---- targets --------------------------------------------------------------------------------------

.PHONY: all
all: $(LIBRARIES) $(twins) ## the libraries, static and shared (the default; installs and downloads nothing)

.PHONY: examples
examples: $(EXAMPLES) $(NODE) ## the example programs and the example node

.PHONY: tests
tests: $(UNIT_TESTS) $(CONC_TESTS) $(FUZZ_TESTS) $(INTEG_BINS) ## the test programs, without running them

# Not $(MAKE) in the recipe: make -n would then run the tests. The test of `make install` passes the
# caller's settings on, or it would rebuild what the others are testing.
make_program := $(MAKE)

.PHONY: check
check: deps all tests examples $(if $(or $(if $(SUITES),,all),$(filter jvm,$(SUITES))),jvm) ## every test; narrow with T=words in a name, SUITES="unit examples"; ONCE=1 runs none a second time
	@CC='$(CC)' CXX='$(CXX)' SAN='$(SAN)' CREST_BUILD='$(B)' MAKE='$(make_program)' \
	    CREST_MAKE_SETTINGS='$(subst ','\'',$(MAKEOVERRIDES))' \
	    scripts/run-tests $(if $(SUITES),--suites '$(SUITES)') $(if $(T),--match '$(T)')

.PHONY: demo
demo: deps all examples $(if $(filter embedded,$(CREST_DEMO)),,demo-servers) ## the node, a Pushgateway and Prometheus, live; CREST_DEMO=embedded needs no server
	@CREST_BUILD='$(B)' python3 examples/demo/run_demo.py

.PHONY: fuzz
fuzz: $(FUZZERS) ## each fuzz target for FUZZ_TIME=60 seconds, with clang; FUZZ=names narrows
	@for target in $(or $(FUZZ),$(FUZZ_TARGETS)); do \
	    echo "fuzzing $$target for $(FUZZ_TIME) s; what it finds: $(FUZZ_B)/found/$$target-*"; \
	    mkdir -p $(FUZZ_B)/corpus/$$target $(FUZZ_B)/found; \
	    $(FUZZ_B)/fuzz_$$target -max_total_time=$(FUZZ_TIME) -max_len=4096 -rss_limit_mb=8192 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix=$(FUZZ_B)/found/$$target- \
	        $(FUZZ_B)/corpus/$$target tests/fuzz/corpus/$$target || exit 1; done

.PHONY: mutants
mutants: ## mistakes put into a copy of the library, one at a time: do the tests notice? PART="windows pages", MUTANT=words in a name
	@python3 tests/mutation/mutate.py --part '$(PART)' --mutant '$(MUTANT)'

# Tests that look at instructions, memory or the libraries' symbols fail with the counters in them,
# which is no matter here.
coverage_suites := unit concurrency fuzz examples integration
.PHONY: coverage
coverage: deps ## what part of the library the tests run, by file: lines and branches; some minutes
	@-find build/coverage -name '*.gcda' -delete 2> /dev/null
	-@$(make_program) --no-print-directory COVERAGE=1 DEPS=no ONCE=1 check SUITES="$(coverage_suites)"
	@python3 tests/coverage/coverage.py build/coverage

.PHONY: bench
bench: deps $(SIDES) ## what recording costs, beside what: bench/README.md; BENCH_ARGS='--overlay quick', BENCH_ARGS=--list, STRICT=1
	@CC='$(CC)' CXX='$(CXX)' python3 bench/runner/bench.py --build $(B) $(if $(STRICT),--strict) $(BENCH_ARGS)

.PHONY: bench-node
bench-node: deps $(NODE) $(OFF_NODE) $(SIDES) ## what the library takes from a whole node, beside the same node without it
	@CC='$(CC)' CXX='$(CXX)' python3 bench/runner/bench.py --build $(B) --profile node $(BENCH_ARGS)
	@python3 bench/node/node_overhead.py

.PHONY: bench-daemon
bench-daemon: deps all ## what the library takes from memcached and mosquitto, beside atomics by hand; BENCH_ARGS='--only GET --pairs 20'
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/daemon/daemon_bench.py $(BENCH_ARGS)

.PHONY: bench-resident
bench-resident: deps all ## resident memory of a host at rest, by reporter
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/resident/resident.py

.PHONY: bench-report
bench-report: ## a page with charts of its results; BENCH_ARGS='NEW.json OLD.json --fail-above 5' compares
	@python3 bench/report/bench_report.py $(BENCH_ARGS)

.PHONY: bench-readme
bench-readme: ## the figures in README.md and docs/ from RESULTS=build/bench/results.json, which are kept
	@python3 bench/report/readme_figures.py $(RESULTS)

.PHONY: bench-reading
bench-reading: ## pages against prometheus-cpp's, snapshots, ticks: bench with the overlay `reading`
	@$(make_program) bench BENCH_ARGS='--overlay reading $(BENCH_ARGS)'

# What bench/peers/prometheus-cpp/side.json asks for.
.PHONY: bench-prometheus-cpp
bench-prometheus-cpp: $(CPP_PEER)

.PHONY: budget budget-update
budget: deps $(crest_so) ## instructions of each hot path, by callgrind, beside their budget
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/gate/budget.py

budget-update: deps $(crest_so) ## rewrites this compiler's part of bench/gate/budget.json
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/gate/budget.py --update

# ---- the JVM shim: a JNI library of C, and a jar that Maven makes and that carries it ---------------

# The JDK whose headers the C is compiled with: JAVA_HOME, or else the one whose javac is found.
jvm_home     = $${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v javac)")")")}
jvm_arch     = linux-$$(uname -m)
jvm_src     := $(wildcard jvm-shim/native/*.c)
jvm_java    := $(shell find jvm-shim -name '*.java' -o -name pom.xml -o -path '*/resources/*' -type f)
jvm_so      := $(LIB)/libcrest-jvm.so
jvm_natives := build/jvm/natives/io/crest/native
jvm_jar     := build/jvm/crest-jvm/crest-jvm-$(VERSION).jar
MVN         ?= mvn
STRIP       ?= strip

# `make check` does without where there is no JDK or no Maven, and what Maven fails at is told by the
# tests that miss it. Asked for by name, both are errors.
jvm_optional :=
check: jvm_optional := yes
jvm_needed = { [ -x "$${JAVA_HOME:-/nowhere}/bin/javac" ] || command -v javac; } > /dev/null && \
    command -v $(firstword $(MVN)) > /dev/null || { $(if $(jvm_optional),exit 0,echo \
    "The JVM shim needs a JDK and Maven (Debian: default-jdk-headless, maven): try 'make deps'" >&2; exit 1); }
jvm_maven = rm -f $@; $(MVN) -B -q -Dstyle.color=never -f jvm-shim/pom.xml -DskipTests $(1) \
    > build/jvm/maven.log 2>&1 || { cat build/jvm/maven.log; exit $(if $(jvm_optional),0,1); }

# $ORIGIN: beside it lies libcrest, where the process has none yet. The library of reporters is
# opened at run time, so that a machine without libcurl still records.
$(jvm_so): $(jvm_src) $(wildcard jvm-shim/native/*.h) $(HEADERS) $(filter %.so,$(LIBRARIES)) $(B)/flags
	$(run)$(jvm_needed); printf '  %-4s %s\n' LINK $@; mkdir -p $(@D); \
	home=$(jvm_home); $(CC) $(inc_public) -I"$$home/include" -I"$$home/include/linux" $(CPPFLAGS) \
	    $(ALL_CFLAGS) -fPIC -fvisibility=hidden -ftls-model=initial-exec -shared $(no_undefined) \
	    -Wl,-soname,libcrest-jvm.so -Wl,-rpath,'$$ORIGIN' $(ALL_LDFLAGS) -o $@ $(jvm_src) \
	    -L$(LIB) -lcrest -lpthread -ldl

# Under a sanitizer there is no jar: its libraries would ask every JVM for the sanitizer. The tests
# then load the library from where it was built.
.PHONY: jvm
jvm: deps $(if $(SAN),$(jvm_so) build/jvm/classes,build/jvm/built) ## the jar for the JVM, with the native libraries in it; needs a JDK and Maven

# The jar holds one variant's libraries: another one than last time makes it anew.
build/jvm/variant: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(VARIANT)' | cmp -s - $@ || printf '%s\n' '$(VARIANT)' > $@

# What goes into the jar: libcrest with ck in it, where there is an archive of ck, so that nothing
# but the C library has to be there; the licences of both, as ck's asks for; and the table of what
# io.crest.Natives may load.
ck_licence := /usr/share/doc/libck-dev/copyright
build/jvm/natives/made: $(jvm_so) $(base_obj) $(core_obj) $(reporters_so) build/jvm/variant
	$(run)[ -e $(jvm_so) ] || exit 0; printf '  %-4s %s\n' SUMS $(jvm_natives); \
	into=$(jvm_natives)/$(jvm_arch); rm -rf "$$into"; mkdir -p "$$into"; \
	ck='$(CK_LIBS)'; [ -e "$$($(CC) -print-file-name=libck.a)" ] && ck='-l:libck.a -Wl,--exclude-libs,libck.a'; \
	$(CC) $(so_flags) -Wl,-soname,libcrest.so.$(SOVERSION) $(ALL_LDFLAGS) -o "$$into/libcrest.so.$(SOVERSION)" \
	    $(base_obj) $(core_obj) $$ck -lpthread && \
	cp -L $(LIB)/libcrest-reporters.so.$(SOVERSION) $(jvm_so) "$$into/" && $(STRIP) -S "$$into"/* && \
	mkdir -p build/jvm/natives/META-INF && cp LICENSE build/jvm/natives/META-INF/ && \
	{ [ ! -e $(ck_licence) ] || cp $(ck_licence) build/jvm/natives/META-INF/LICENSE.ck; } && \
	cd $(jvm_natives) && { echo 'version=$(VERSION)'; \
	    sha256sum linux-*/* | sed 's/\([^ ]*\) [ *]\(.*\)/\2=\1/'; } > native.properties && \
	touch $(CURDIR)/$@

build/jvm/built: build/jvm/natives/made $(jvm_java)
	$(run)[ -e $< ] || exit 0; printf '  %-4s %s\n' MVN jvm-shim; $(call jvm_maven,package); touch $@ build/jvm/classes

build/jvm/classes: $(jvm_java) | $(first)
	$(run)$(jvm_needed); printf '  %-4s %s\n' MVN jvm-shim; mkdir -p $(@D); $(call jvm_maven,process-test-classes); touch $@

# What JMH and the peers need is fetched by Maven, and only here.
.PHONY: bench-jvm
bench-jvm: build/jvm/bench ## recording from the JVM against Kamon, Micrometer and others; BENCH_ARGS= goes to JMH
	@python3 jvm-shim/crest-jvm-bench/jvm_bench.py $(if $(STRICT),--strict) --args='$(subst ','\'',$(BENCH_ARGS))'

build/jvm/bench: build/jvm/built $(jvm_java)
	$(call say,MVN,jvm-shim/crest-jvm-bench)
	$(run)$(MVN) -B -q -Dstyle.color=never -f jvm-shim/pom.xml -P bench -DskipTests package
	@touch $@

# What deps.sh looks after: of the tests the suites that are asked for, or all of them.
deps_parts = $(sort $(if $(filter check,$(MAKECMDGOALS)),build $(or $(subst $(comma),$(space),$(SUITES)),$(all_suites))) \
               $(if $(filter demo demo-servers,$(MAKECMDGOALS)),demo) \
               $(if $(filter servers,$(MAKECMDGOALS)),integration npm) \
               $(if $(filter jvm bench-jvm,$(MAKECMDGOALS)),build jvm) \
               $(if $(filter budget budget-update bench bench-node bench-daemon bench-resident bench-reading,$(MAKECMDGOALS)),bench) \
               $(if $(filter coverage,$(MAKECMDGOALS)),build coverage $(coverage_suites)) \
               $(if $(filter deps,$(MAKECMDGOALS)),build $(or $(subst $(comma),$(space),$(SUITES)),demo $(all_suites))))
all_suites := checks unit concurrency fuzz examples tools jvm integration npm

.PHONY: deps
deps: ## the packages that building, testing and the demo need, or only SUITES=; DEPS=no leaves the system alone
	@$(if $(filter no,$(DEPS)),:,scripts/deps.sh $(deps_parts))

.PHONY: servers
servers: $(if $(filter no,$(DEPS)),,| deps) ## the servers of tests and demo, unpacked below build/servers
	@scripts/fetch-servers.sh

.PHONY: demo-servers
demo-servers: $(if $(filter no,$(DEPS)),,| deps)
	@scripts/fetch-servers.sh demo

.PHONY: symbols-update
symbols-update: all ## rewrites tests/checks/*.symbols from the libraries as they are
	@CREST_BUILD='$(B)' tests/checks/check_symbols.py --update

# What is generated from manifests (*.metrics.yaml), and checked in, so that building needs no
# PyYAML. A page has a place for each team's table; a header is generated where there is one.
library_manifests := $(addprefix catalogue/,host.metrics.yaml system.metrics.yaml latency.metrics.yaml probe.metrics.yaml) \
                     jvm-shim/jvm.metrics.yaml catalogue/crest.metrics.yaml
library_views     := share/crest_dashboard.json share/crest_rules.yml
node_manifests    := $(wildcard examples/node/*.metrics.yaml)
rnode_manifests   := $(wildcard examples/rnode/*.metrics.yaml)
metrics_header     = $(if $(wildcard $(2)),$(1)=$(2))
metrics_headers   := \
    $(call metrics_header,examples/28_catalogue.metrics.yaml,examples/28_catalogue_metrics.h) \
    $(call metrics_header,examples/node/comm.metrics.yaml,examples/node/node_metrics_comm.h) \
    $(call metrics_header,examples/node/casper.metrics.yaml,examples/node/node_metrics_casper.h) \
    $(call metrics_header,examples/node/rspace.metrics.yaml,examples/node/node_metrics_rspace.h) \
    $(call metrics_header,examples/node/block-storage.metrics.yaml,examples/node/node_metrics_storage.h)

# CATALOGUE_CHECK=--check writes nothing and fails with a diff of what would change. All of it is
# tried, so that every problem is told at once.
CATALOGUE_CHECK ?=
.PHONY: catalogue
catalogue: ## tables, headers, dashboard and rules from the manifests; needs python3-yaml
	@status=0; run() { tools/crest-catalogue "$$@" $(CATALOGUE_CHECK) || status=1; }; \
	run tables --placed $(library_manifests) $(node_manifests) --into METRICS.md; \
	run tables --placed $(rnode_manifests) --into examples/rnode/README.md; \
	for pair in $(metrics_headers); do run header $${pair%%=*} -o $${pair#*=}; done; \
	run dashboard $(node_manifests) --title 'Crest example node' -o examples/node/dashboard.json; \
	run rules $(node_manifests) -o examples/node/generated_rules.yml; \
	run dashboard $(library_manifests) --title 'Process and machine, by Crest' \
	    -o $(filter %.json,$(library_views)); \
	run rules $(library_manifests) -o $(filter %.yml,$(library_views)); \
	exit $$status

.PHONY: off
off: $(twins) ## what the headers have with CREST_DISABLE, below build/include

.PHONY: format
format: ## clang-format over every C and C++ file
	clang-format -i $(wildcard $(HEADERS) src/*.[ch] src/*/*.[ch] reporters/*.[ch] examples/*.c \
	    examples/node/*.[ch] jvm-shim/native/*.[ch] tests/*/*.[ch] tests/*/*.cc bench/*.[ch] bench/*.cc)

.PHONY: clean
clean: ## everything below build/ but the fetched servers
	@for entry in build/*; do [ "$$entry" = build/servers ] || rm -rf "$$entry"; done

.PHONY: help
help: ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\n%s\n' 'With every target: CC=clang, DEBUG=1, WERROR=1, SAN=address,undefined or SAN=thread.' \
	    'With install: PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR)'

# ---- compiling ------------------------------------------------------------------------------------

# When the goal is one that first looks after its packages, nothing compiles before that is done.
ifneq ($(filter check demo bench bench-node bench-daemon bench-resident bench-reading budget budget-update jvm bench-jvm deps,$(MAKECMDGOALS)),)
first := deps
endif

# A changed flag rebuilds: the file changes only when the flags do.
flags_now := $(CC) $(CXX) $(ALL_CFLAGS) $(ALL_CXXFLAGS) $(CPPFLAGS) $(ALL_LDFLAGS) $(lib_flags)
$(B)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(flags_now))' > $@
.PHONY: FORCE
FORCE:

# Says what to do on a machine without the compiler or ck, instead of a page of errors.
$(B)/toolchain: | $(first)
	@mkdir -p $(@D)
	@command -v $(firstword $(CC)) > /dev/null || { echo "No compiler '$(CC)': try 'make deps', or CC=..." >&2; exit 1; }
	@echo '#include <ck_pr.h>' | $(CC) $(CPPFLAGS) -E -x c - > /dev/null 2>&1 || \
	    { echo "Concurrency Kit's headers are missing (Debian: libck-dev): try 'make deps'" >&2; exit 1; }
	@touch $@

$(all_obj): $(B)/flags | $(B)/toolchain

$(base_obj): private cpp = $(inc_src) $(lib_flags)
$(core_obj): private cpp = $(inc_src) $(lib_flags) -DCREST_OWN_CELLS
$(reporters_obj): private cpp = $(inc_reporters) $(lib_flags)
$(link_obj): private cpp = $(inc_public) -fPIC
$(public_obj): private cpp = $(inc_public)
$(off_obj): private cpp = $(inc_public) -Ibuild/include -DCREST_DISABLE
$(test_obj): private cpp = $(inc_tests)
$(sort $(started_obj) $(sides_obj)): private cpp = $(inc_public) -Ibench -Ibench/side -Ibench/crest
$(cpp_peer_obj): private cpp = -Ibench/side -DPROMETHEUS_CPP_VERSION='"$(shell \
    pkg-config --modversion prometheus-cpp-core 2> /dev/null || echo unknown)"'

say = @printf '  %-4s %s\n' $(1) $(2)
ifeq ($(V),1)
run :=
else
run := @
endif

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(run)$(CC) $(cpp) $(CPPFLAGS) $(ALL_CFLAGS) $(make_deps) -c $< -o $@

# Its functions take into themselves all that they call: with link-time optimisation that would be
# the whole library, again and again, for minutes and gigabytes.
$(OBJ)/src/instruments/inline_symbols.o: private ALL_CFLAGS += -fno-lto
# One reference, which every linker has to see.
$(link_obj): private ALL_CFLAGS += -fno-lto

# What the headers include with CREST_DISABLE, made from them.
$(twins): scripts/make-off scripts/off_bodies.h $(HEADERS)
	$(call say,OFF,$(@D)/crest/off)
	@mkdir -p $(@D)/crest
	$(run)scripts/make-off $(@D)/crest/off && touch $@

# The same sources without the library.
$(off_obj): $(twins)
$(OBJ)/disabled/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(run)$(CC) $(cpp) $(CPPFLAGS) $(ALL_CFLAGS) $(make_deps) -c $< -o $@

$(OBJ)/%.o: %.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(run)$(CXX) $(cpp) $(CPPFLAGS) $(ALL_CXXFLAGS) $(make_deps) -c $< -o $@

-include $(all_obj:.o=.d)

# ---- libraries ------------------------------------------------------------------------------------

$(crest_a): $(base_obj) $(core_obj)
$(reporters_a): $(reporters_obj)
$(link_a): $(link_obj)

$(LIB)/%.a:
	$(call say,AR,$@)
	@mkdir -p $(@D); rm -f $@
	$(run)$(AR) rcs $@ $^

$(crest_so).$(VERSION): $(base_obj) $(core_obj)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(so_flags) -Wl,-soname,libcrest.so.$(SOVERSION) $(ALL_LDFLAGS) -o $@ $^ $(CK_LIBS) -lpthread

$(reporters_so).$(VERSION): $(reporters_obj) $(crest_so)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(so_flags) -Wl,-soname,libcrest-reporters.so.$(SOVERSION) $(ALL_LDFLAGS) -o $@ \
	    $(reporters_obj) -L$(LIB) -lcrest $(CURL_LIBS) $(MHD_LIBS) $(ZLIB_LIBS) -lpthread

$(LIB)/%.so: $(LIB)/%.so.$(VERSION)
	@ln -sf $(<F) $(LIB)/$*.so.$(SOVERSION)
	@ln -sf $*.so.$(SOVERSION) $@

# ---- programs -------------------------------------------------------------------------------------

$(EXAMPLES): $(B)/%: $(OBJ)/%.o $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $< $(link_archive) -lm

$(NODE): $(node_obj) $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $(node_obj) $(link_archive) $(LMDB_LIBS) -lm

# The same without the library: docs/disable.md.
$(OFF_NODE): $(off_obj)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $(off_obj) $(LMDB_LIBS) -lm -lpthread

# The C++ driver links, so that a test may be C++.
$(UNIT_TESTS) $(CONC_TESTS) $(INTEG_BINS): $(B)/%: $(OBJ)/%.o $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CXX) $(ALL_LDFLAGS) -o $@ $< $(link_archive) $(CMOCKA_LIBS) -lm -ldl

# A fuzz target here runs over its corpus only; `make fuzz` links it with a fuzzer.
$(FUZZ_TESTS): $(B)/%: $(OBJ)/%.o $(call objects,$(fuzz_replay)) $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(link_archive) -lm

# Apart from every variant: the library's objects are instrumented for the fuzzer too.
$(FUZZ_B)/obj/%.o: %.c $(HEADERS) $(wildcard src/*/*.h src/*/*/*.h reporters/*.h reporters/*/*.h tests/support/*.h tests/fuzz/*.h)
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	@command -v $(firstword $(FUZZ_CC)) > /dev/null || { echo "make fuzz needs clang: install it, or name one with FUZZ_CC=" >&2; exit 1; }
	$(run)$(FUZZ_CC) -std=gnu11 -g -O1 $(fuzz_flags)-no-link$(fuzz_san) -fno-omit-frame-pointer \
	    $(inc_tests) $(if $(filter src/% reporters/%,$<),$(lib_flags)) $(CPPFLAGS) -c $< -o $@

$(FUZZERS): $(FUZZ_B)/%: $(FUZZ_B)/obj/tests/fuzz/%.o $(fuzz_lib_obj)
	$(call say,LINK,$@)
	$(run)$(FUZZ_CC) $(fuzz_flags)$(fuzz_san) -o $@ $^ $(CURL_LIBS) $(MHD_LIBS) $(ZLIB_LIBS) $(CK_LIBS) -lpthread -lm

# A side of the comparison: what is in its folder, and what all sides share. It has the shared
# library, as users link: recording must be as cheap there.
$(foreach s,$(sides),$(eval $(B)/bench/$(s): $(call objects,$(wildcard bench/$(s)/*.c bench/$(s)/*.cc))))
$(SIDES): $(side_obj) $(filter %.so,$(LIBRARIES))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CXX) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -L$(LIB) -Wl,-rpath,'$$ORIGIN/../lib' \
	    $(side_libs) -lcrest $(BENCHMARK_LIBS) $(CK_LIBS) -lpthread -lm

# What calls into a shared library cost at least: one that does nothing.
limits_so := $(B)/bench/libbench_limits.so
$(limits_obj): private cpp = $(inc_public) -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(limits_so): $(limits_obj)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) -shared -Wl,-z,relro,-z,now,-soname,$(@F) $(ALL_LDFLAGS) -o $@ $^
$(B)/bench/crest: private side_libs = -L$(B)/bench -Wl,-rpath,'$$ORIGIN' -lbench_limits
$(B)/bench/crest: $(limits_so)

$(CPP_PEER): $(side_obj) $(cpp_peer_obj)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CXX) $(ALL_LDFLAGS) -o $@ $^ $(PROMETHEUS_LIBS) $(BENCHMARK_LIBS) -lpthread

# prometheus-cpp is linked when its headers are there, which is what the source asks too.
$(B)/bench/whole: private side_libs = $$(echo '\#include <prometheus/registry.h>' | \
    $(CXX) $(CPPFLAGS) -x c++ -E - > /dev/null 2>&1 && echo '$(PROMETHEUS_LIBS)')
$(B)/bench/whole: $(STARTED)

# What is started to see how long a start takes: without the library, with it, with metrics.
started_ends := $(OBJ)/bench/whole/start_up/started
$(B)/bench/started-without: $(started_ends)_main.o $(started_ends)_without.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $^

# no intermediate files, which make would remove
.SECONDARY: $(foreach n,0 $(STATIC_METRICS),$(OBJ)/bench/static-$(n).c $(OBJ)/bench/static-$(n).o)
$(OBJ)/bench/static-%.c: bench/whole/start_up/make_static_metrics.py
	@mkdir -p $(@D)
	$(run)python3 $< $* > $@

$(OBJ)/bench/static-%.o: $(OBJ)/bench/static-%.c $(HEADERS) $(B)/flags
	$(call say,CC,$<)
	$(run)$(CC) $(inc_public) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(B)/bench/started-%: $(started_ends)_main.o $(started_ends)_with.o $(OBJ)/bench/static-%.o $(filter %.so,$(LIBRARIES))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -L$(LIB) -Wl,-rpath,'$$ORIGIN/../lib' -lcrest $(CK_LIBS) -lpthread

# ---- installing -----------------------------------------------------------------------------------

pc_files   := $(patsubst pkgconfig/%.in,%,$(wildcard pkgconfig/*.pc.in))
pc_libdir  := $(if $(filter $(PREFIX)/%,$(LIBDIR)),$${prefix}/$(patsubst $(PREFIX)/%,%,$(LIBDIR)),$(LIBDIR))
to_include := $(DESTDIR)$(PREFIX)/include/crest
to_lib     := $(DESTDIR)$(LIBDIR)
to_bin     := $(DESTDIR)$(PREFIX)/bin
to_share   := $(DESTDIR)$(PREFIX)/share/crest
to_man     := $(DESTDIR)$(PREFIX)/share/man/man1
to_java    := $(DESTDIR)$(PREFIX)/share/java

tools        := $(wildcard tools/crest-*)
tools_python := $(wildcard tools/*/*.py)
man_pages    := $(wildcard docs/man/*.1)

.PHONY: install
install: all ## headers, libraries, .pc files, tools, manuals, a dashboard, the jar if it was built, below DESTDIR and PREFIX
	install -d $(to_include)/off $(to_lib)/pkgconfig
	install -m 644 $(HEADERS) $(to_include)
	install -m 644 build/include/crest/off/*.h $(to_include)/off
	install -m 644 $(filter %.a,$(LIBRARIES)) $(to_lib)
	for so in $(notdir $(filter %.so,$(LIBRARIES))); do \
	    install -m 755 $(LIB)/$$so.$(VERSION) $(to_lib) && \
	    ln -sf $$so.$(VERSION) $(to_lib)/$$so.$(SOVERSION) && \
	    ln -sf $$so.$(SOVERSION) $(to_lib)/$$so || exit 1; done
	for pc in $(pc_files); do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(pc_libdir)|' -e 's|@VERSION@|$(VERSION)|' \
	        pkgconfig/$$pc.in > $(to_lib)/pkgconfig/$$pc && \
	    chmod 644 $(to_lib)/pkgconfig/$$pc || exit 1; done
	install -d $(to_bin) $(to_man) $(addprefix $(to_share)/,$(sort $(notdir $(patsubst %/,%,$(dir $(tools_python))))))
	install -m 755 $(tools) $(to_bin)
	for source in $(tools_python:tools/%=%); do \
	    install -m 644 tools/$$source $(to_share)/$$source || exit 1; done
	install -m 644 $(library_manifests) $(library_views) $(to_share)
	install -m 644 $(man_pages) $(to_man)
	if [ -e build/jvm/built ]; then \
	    install -d $(to_java) && install -m 644 $(jvm_jar) $(to_java)/crest-jvm.jar; fi

.PHONY: uninstall
uninstall: ## removes what install put there
	rm -f $(addprefix $(to_include)/,$(notdir $(HEADERS)))
	rm -rf $(to_include)/off
	-rmdir $(to_include)
	rm -f $(addprefix $(to_lib)/,$(notdir $(link_a))) $(foreach l,libcrest libcrest-reporters,$(addprefix $(to_lib)/$l,.a .so .so.$(SOVERSION) .so.$(VERSION)))
	rm -f $(addprefix $(to_lib)/pkgconfig/,$(pc_files))
	rm -f $(addprefix $(to_bin)/,$(notdir $(tools))) $(addprefix $(to_man)/,$(notdir $(man_pages)))
	rm -rf $(to_share)
	rm -f $(to_java)/crest-jvm.jar
