# SPDX-License-Identifier: Apache-2.0
#
# What is generated from other files of the tree, and checked in or made below build/.

.PHONY: symbols-update
symbols-update: all #: ## rewrites tests/checks/*.symbols from the libraries as they are
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
	@status=0; run() { tools/crest catalogue "$$@" $(CATALOGUE_CHECK) || status=1; }; \
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
off: $(twins) #: ## what the headers have with CREST_DISABLE, below build/include

.PHONY: format
format: #: ## clang-format over every C and C++ file
	clang-format -i $(wildcard $(HEADERS) src/*.[ch] src/*/*.[ch] reporters/*.[ch] examples/*.c \
	    examples/node/*.[ch] jvm-shim/native/*.[ch] tests/*/*.[ch] tests/*/*.cc bench/*.[ch] bench/*.cc)

# What the headers include with CREST_DISABLE, made from them.
$(twins): scripts/make-off scripts/off_bodies.h $(HEADERS)
	$(call say,OFF,$(@D)/crest/off)
	@mkdir -p $(@D)/crest
	$(run)scripts/make-off $(@D)/crest/off && touch $@
