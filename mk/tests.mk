# SPDX-License-Identifier: Apache-2.0
#
# What runs more than `make check` does: the slow tests, the demo, mutants, coverage.

.PHONY: check-all
check-all: ALL := 1
check-all: check ## make check, and the tests that take long

.PHONY: demo
demo: deps all examples $(if $(filter embedded,$(CREST_DEMO)),,demo-servers) ## the node, a Pushgateway and Prometheus, live; CREST_DEMO=embedded needs no server
	@CREST_BUILD='$(B)' python3 examples/demo/run_demo.py

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

# What `check` has to build: the programs of the suites that it runs, without those that do not run
# under this sanitizer, as `crest-test: sanitizers=` in them says. Checks and tools look at any.
check_suites := $(subst $(comma),$(space),$(SUITES))
check_suites := $(if $(filter checks tools,$(check_suites)),,$(check_suites))
of_suites     = $(if $(or $(if $(check_suites),,all),$(filter $(1),$(check_suites))),$(2))
thread_only  := $(findstring thread,$(SAN))
runs_under   := none|no|$(if $(thread_only),address|undefined,thread)
not_run      := $(if $(SAN),$(shell grep -lE 'crest-test:.* sanitizers=($(runs_under))\b' \
                $(unit_src) $(conc_src) $(faults_src)))
check_tests  := $(filter-out $(call programs,$(not_run)), \
                $(call of_suites,unit,$(UNIT_TESTS) $(call programs,$(faults_src))) \
                $(call of_suites,concurrency,$(CONC_TESTS)) $(call of_suites,fuzz,$(FUZZ_TESTS)) \
                $(call of_suites,examples integration npm,$(EXAMPLES)) \
                $(if $(thread_only),,$(call of_suites,integration npm,$(INTEG_BINS) $(NODE))))

# The long forms of what `make check` has for seconds.
MINUTES ?= 60
faults_long := core threads reporters
.PHONY: check-long
check-long: deps all tests ## an hour of soak, and every fault; MINUTES=3 for less
	@for part in $(faults_long); do '$(B)'/tests/faults/test_faults_$$part --full | tail -n 3 || exit 1; done
	@'$(B)'/tests/concurrency/test_differential $$(( $(MINUTES) * 10 ))
	@CREST_BUILD='$(B)' python3 tests/integration/test_soak.py --minutes $(MINUTES)

FAULT_TESTS := $(call programs,$(faults_src))
faults_more := $(filter-out $(faults_src),$(faults_all))
# What the libraries import leads to the wrappers of the rows, where it can be made to fail.
faults_wrap := $(B)/faults.wrap
$(faults_wrap): $(faults_more)
	@mkdir -p $(@D)
	@sed -nE 's/^(ROW|ROW_MAKES|GOES|FAULT_DECLARE|WRAPS)\([^,]*, *([A-Za-z0-9_]+),.*/--wrap=\2/p' $^ > $@
$(FAULT_TESTS): $(B)/%: $(OBJ)/%.o $(call objects,$(faults_more)) $(faults_wrap) $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_LDFLAGS) -Wl,@$(faults_wrap) -o $@ $(filter %.o,$^) $(link_archive) -lm -ldl

# Plugins that it loads take the library from it, and may want any part.
$(B)/tests/programs/soak_program: private ALL_LDFLAGS += -rdynamic \
    -Wl,--whole-archive $(crest_a) -Wl,--no-whole-archive
