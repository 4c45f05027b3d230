# SPDX-License-Identifier: Apache-2.0
#
# What is fetched: packages, and the servers that tests and demo talk to.

# What deps.sh looks after: of the tests the suites that are asked for, or all of them.
deps_parts = $(sort $(if $(filter check check-all,$(MAKECMDGOALS)),build $(or $(subst $(comma),$(space),$(SUITES)),$(all_suites))) \
               $(if $(filter demo demo-servers,$(MAKECMDGOALS)),demo) \
               $(if $(filter servers,$(MAKECMDGOALS)),integration npm) \
               $(if $(filter jvm bench-jvm,$(MAKECMDGOALS)),build jvm) \
               $(if $(filter budget budget-update bench bench-node bench-daemon bench-resident bench-reading,$(MAKECMDGOALS)),bench) \
               $(if $(filter coverage,$(MAKECMDGOALS)),build coverage $(coverage_suites)) \
               $(if $(filter deps,$(MAKECMDGOALS)),build $(or $(subst $(comma),$(space),$(SUITES)),demo $(all_suites))))
all_suites := checks unit concurrency fuzz examples tools jvm integration npm

.PHONY: deps
deps: ## the packages of building, testing and the demo; only those of SUITES=; DEPS=no leaves the system alone
	@$(if $(filter no,$(DEPS)),:,scripts/deps.sh $(deps_parts))

.PHONY: servers
servers: $(if $(filter no,$(DEPS)),,| deps) #: ## the servers of tests and demo, unpacked and built below build/servers
	@scripts/fetch-servers.sh
	@scripts/build-servers

.PHONY: demo-servers
demo-servers: $(if $(filter no,$(DEPS)),,| deps)
	@scripts/fetch-servers.sh demo
