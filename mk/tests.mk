# SPDX-License-Identifier: Apache-2.0
#
# What runs more than `make check` does: the demo, mutants, coverage.

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

# The long forms of what `make check` has for seconds.
MINUTES ?= 60
faults_long := core threads reporters
.PHONY: check-long
check-long: deps all tests ## an hour of soak, of random operations against their reference, and every call failing; MINUTES=3 for less
	@for part in $(faults_long); do '$(B)'/tests/faults/test_faults_$$part --full | tail -n 3 || exit 1; done
	@'$(B)'/tests/concurrency/test_differential $$(( $(MINUTES) * 10 ))
	@CREST_BUILD='$(B)' python3 tests/integration/test_soak.py --minutes $(MINUTES)
