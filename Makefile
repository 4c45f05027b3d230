# SPDX-License-Identifier: Apache-2.0
#
# The build of Crest and its tests, without recursion; mk/ has the settings and what else there is.
# Sources are found by wildcard, so a new file needs no line here; objects go below
# build/<variant>/, one variant for each combination of compiler, SAN and DEBUG, so that switching
# back and forth never mixes objects.
#
#   make help                          what there is; make help-all: all of it
#   make CC=clang                      another compiler             -> build/release-clang
#   make SAN=address,undefined check   with sanitizers              -> build/asan
#   make DEBUG=1                       unoptimised                  -> build/debug
#   make coverage                      counting what the tests run  -> build/coverage
#
# Nothing here asks pkg-config or the compiler anything while this file is being read: on a fresh
# machine `make check` starts before either is installed, and installs them first.

VERSION   := 0.2.0
SOVERSION := 0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

include mk/settings.mk

# ---- what there is to build -----------------------------------------------------------------------

HEADERS       := $(wildcard include/crest/*.h include/crest/*.hpp)
base_src      := $(wildcard src/base/*.c)
core_src      := $(filter-out $(base_src),$(wildcard src/*/*.c src/*/*/*.c))
reporters_src := $(wildcard reporters/*.c reporters/*/*.c)
examples_src  := $(wildcard examples/*.c examples/*.cc)
node_src      := $(wildcard examples/node/*.c)
demo_src      := $(wildcard examples/demo/*.c)
unit_src      := $(foreach d,* */*,$(wildcard tests/unit/$(d)/test_*.c tests/unit/$(d)/test_*.cc))
conc_src      := $(wildcard tests/concurrency/test_*.c)
faults_src    := $(wildcard tests/faults/test_*.c)
faults_all    := $(wildcard tests/faults/*.c)
integ_src     := $(wildcard tests/programs/*.c)
fuzz_src      := $(wildcard tests/fuzz/fuzz_*.c)
fuzz_replay   := tests/fuzz/replay_corpus.c

objects = $(patsubst %,$(OBJ)/%.o,$(basename $(1)))

base_obj      := $(call objects,$(base_src))
core_obj      := $(call objects,$(core_src))
reporters_obj := $(call objects,$(reporters_src))
link_obj      := $(if $(reporters_src),$(call objects,pkgconfig/reporters_link.c))
lib_obj       := $(base_obj) $(core_obj) $(reporters_obj)
node_obj      := $(call objects,$(node_src))
public_obj    := $(call objects,$(examples_src) $(demo_src)) $(node_obj)
test_obj      := $(call objects,$(unit_src) $(conc_src) $(integ_src) $(fuzz_src) $(faults_all) \
                 $(if $(fuzz_src),$(fuzz_replay)))
off_obj       := $(patsubst $(OBJ)/%,$(OBJ)/disabled/%,$(node_obj))

programs = $(patsubst %,$(B)/%,$(basename $(1)))

EXAMPLES   := $(call programs,$(examples_src) $(demo_src))
NODE       := $(if $(node_src),$(B)/examples/node/node)
OFF_NODE   := $(B)/disabled/examples/node/node
UNIT_TESTS := $(call programs,$(unit_src))
CONC_TESTS := $(call programs,$(conc_src))
FUZZ_TESTS := $(call programs,$(fuzz_src))
INTEG_BINS := $(call programs,$(integ_src))

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

# When the goal is one that first looks after its packages, nothing compiles before that is done.
ifneq ($(filter check check-all demo bench bench-node bench-daemon bench-resident bench-reading budget budget-update jvm bench-jvm deps,$(MAKECMDGOALS)),)
first := deps
endif

# ---- the rest: each of mk/ has its own targets ------------------------------------------------------

mk := $(sort $(wildcard mk/*.mk))
include $(filter-out mk/settings.mk,$(mk))

# ---- targets --------------------------------------------------------------------------------------

.PHONY: all
all: $(LIBRARIES) $(TOOL_PROGRAMS) $(twins) ## the libraries, static and shared, and the tools (the default; installs and downloads nothing)

.PHONY: examples
examples: $(EXAMPLES) $(NODE) ## the example programs and the example node

.PHONY: tests
tests: $(UNIT_TESTS) $(CONC_TESTS) $(FUZZ_TESTS) $(call programs,$(faults_src)) $(INTEG_BINS) ## the test programs, without running them

# Not $(MAKE) in the recipe: make -n would then run the tests. The test of `make install` passes the
# caller's settings on, or it would rebuild what the others are testing.
make_program := $(MAKE)

.PHONY: check
check: deps all $(check_tests) $(if $(or $(if $(SUITES),,all),$(filter jvm,$(SUITES))),jvm) ## every test; narrow with T=words in a name, SUITES="unit examples"; ONCE=1 runs none a second time
	@CC='$(CC)' CXX='$(CXX)' SAN='$(SAN)' CREST_BUILD='$(B)' MAKE='$(make_program)' \
	    CREST_MAKE_SETTINGS='$(subst ','\'',$(MAKEOVERRIDES))' \
	    scripts/run-tests $(if $(ALL),--all) $(if $(SUITES),--suites '$(SUITES)') $(if $(T),--match '$(T)')

.PHONY: clean
clean: ## everything below build/ but the fetched servers
	@for entry in build/*; do [ "$$entry" = build/servers ] || rm -rf "$$entry"; done

# `help` has room for a text up to the first of ; : ( and leaves out what is marked with #: instead.
.PHONY: help help-all
help: ## the targets most asked for
	@awk -F ':.*## ' '/^[a-z-]+:.*## / && !/#: ## / { \
	    sub(/[;:(].*/, "", $$2); printf "  make %-9s %s\n", $$1, $$2 }' Makefile $(mk)
	@printf '%s\n' 'With each: CC=clang, DEBUG=1, WERROR=1, SAN=address,undefined or SAN=thread.'
help-all: ## every target, and what it reads
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile $(mk)
	@printf '\n%s\n' 'With each: CC=clang, DEBUG=1, WERROR=1, SAN=address,undefined or SAN=thread.' \
	    'With install: PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR)'

# ---- compiling ------------------------------------------------------------------------------------

# A changed flag rebuilds: the file changes only when the flags do.
flags_now := $(CC) $(CXX) $(ALL_CFLAGS) $(ALL_CXXFLAGS) $(CPPFLAGS) $(ALL_LDFLAGS) $(lib_flags) $(hardened)
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

all_obj := $(lib_obj) $(link_obj) $(public_obj) $(tools_obj) $(off_obj) $(test_obj) \
           $(sort $(started_obj) $(sides_obj) $(limits_obj) $(cpp_peer_obj))

$(all_obj): $(B)/flags | $(B)/toolchain

$(base_obj): private cpp = $(inc_src) $(lib_flags)
$(core_obj): private cpp = $(inc_src) $(lib_flags) -DCREST_OWN_CELLS
$(reporters_obj): private cpp = $(inc_reporters) $(lib_flags) $(hardened)
$(link_obj): private cpp = $(inc_public) -fPIC
$(public_obj): private cpp = $(inc_public)
$(off_obj): private cpp = $(inc_public) -Ibuild/include -DCREST_DISABLE
$(test_obj): private cpp = $(inc_tests)

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
	$(run)$(if $(wildcard $(@:$(B)/%=%).cc),$(CXX),$(CC)) $(ALL_LDFLAGS) -o $@ $< $(link_archive) -lm

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
	$(run)$(CXX) $(quick_ld) $(ALL_LDFLAGS) -o $@ $< $(link_archive) $(CMOCKA_LIBS) -lm -ldl

# A fuzz target here runs over its corpus only; `make fuzz` links it with a fuzzer.
$(FUZZ_TESTS): $(B)/%: $(OBJ)/%.o $(call objects,$(fuzz_replay)) $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(quick_ld) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(link_archive) -lm
