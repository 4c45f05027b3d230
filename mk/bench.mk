# SPDX-License-Identifier: Apache-2.0
#
# The benchmark, its sides and peers, and the budget of instructions: bench/README.md.

side_src      := $(wildcard bench/side/*.cc)
sides         := crest whole
# a peer is compiled only when its side asks for it: its headers may be missing
cpp_peer_src  := $(wildcard bench/peers/prometheus-cpp/*.cc)
started_src   := $(wildcard bench/whole/start_up/*.c)

started_obj   := $(call objects,$(started_src))
side_obj      := $(call objects,$(side_src))
limits_obj    := $(OBJ)/bench/crest/so/limits_so.o
sides_obj     := $(side_obj) $(call objects,$(foreach s,$(sides),$(wildcard bench/$(s)/*.c bench/$(s)/*.cc)))
cpp_peer_obj  := $(call objects,$(cpp_peer_src))

SIDES      := $(sides:%=$(B)/bench/%)
CPP_PEER   := $(B)/bench/prometheus-cpp
STATIC_METRICS ?= 10000
STARTED    := $(addprefix $(B)/bench/started-,without $(sort 0 $(STATIC_METRICS)))

.PHONY: bench
bench: deps $(SIDES) ## what recording costs, beside what: bench/README.md; BENCH_ARGS='--overlay quick', BENCH_ARGS=--list, STRICT=1
	@CC='$(CC)' CXX='$(CXX)' python3 bench/runner/bench.py --build $(B) $(if $(STRICT),--strict) $(BENCH_ARGS)

.PHONY: bench-node
bench-node: deps $(NODE) $(OFF_NODE) $(SIDES) #: ## what the library takes from a whole node, beside the same node without it
	@CC='$(CC)' CXX='$(CXX)' python3 bench/runner/bench.py --build $(B) --profile node $(BENCH_ARGS)
	@python3 bench/node/node_overhead.py

.PHONY: bench-daemon
bench-daemon: deps all #: ## what the library takes from memcached and mosquitto, beside atomics by hand; BENCH_ARGS='--only GET --pairs 20'
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/daemon/daemon_bench.py $(BENCH_ARGS)

.PHONY: bench-resident
bench-resident: deps all #: ## resident memory of a host at rest, by reporter
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/resident/resident.py

.PHONY: bench-report
bench-report: #: ## a page with charts of its results; BENCH_ARGS='NEW.json OLD.json --fail-above 5' compares
	@python3 bench/report/bench_report.py $(BENCH_ARGS)

.PHONY: bench-readme
bench-readme: #: ## the figures in README.md and docs/ from RESULTS=build/bench/results.json, which are kept
	@python3 bench/report/readme_figures.py $(RESULTS)

.PHONY: bench-reading
bench-reading: #: ## pages against prometheus-cpp's, snapshots, ticks: bench with the overlay `reading`
	@$(make_program) bench BENCH_ARGS='--overlay reading $(BENCH_ARGS)'

# What bench/peers/prometheus-cpp/side.json asks for.
.PHONY: bench-prometheus-cpp
bench-prometheus-cpp: $(CPP_PEER)

.PHONY: budget budget-update
budget: deps $(crest_so) ## instructions of each hot path, beside their budget; by callgrind
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/gate/budget.py

budget-update: deps $(crest_so) #: ## rewrites this compiler's part of bench/gate/budget.json
	@CC='$(CC)' CREST_BUILD='$(B)' python3 bench/gate/budget.py --update

$(sort $(started_obj) $(sides_obj)): private cpp = $(inc_public) -Ibench -Ibench/side -Ibench/crest
$(cpp_peer_obj): private cpp = -Ibench/side -DPROMETHEUS_CPP_VERSION='"$(shell \
    pkg-config --modversion prometheus-cpp-core 2> /dev/null || echo unknown)"'

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
