# SPDX-License-Identifier: Apache-2.0
#
# Fuzzing with clang: apart from every variant, for the library is instrumented too.

FUZZ_B       := build/fuzz
FUZZ_CC      ?= clang
FUZZ_TIME    ?= 60
FUZZ_TARGETS := $(sort $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_src)))
FUZZERS      := $(FUZZ_TARGETS:%=$(FUZZ_B)/fuzz_%)
fuzz_lib_obj := $(patsubst %.c,$(FUZZ_B)/obj/%.o,$(base_src) $(core_src) $(reporters_src))
fuzz_flags   := -fsanitize=fuzzer
fuzz_san     := ,address,undefined -fno-sanitize-recover=all

.PHONY: fuzz
fuzz: $(FUZZERS) ## each fuzz target for FUZZ_TIME=60 seconds, with clang; FUZZ=names narrows
	@for target in $(or $(FUZZ),$(FUZZ_TARGETS)); do \
	    echo "fuzzing $$target for $(FUZZ_TIME) s; what it finds: $(FUZZ_B)/found/$$target-*"; \
	    mkdir -p $(FUZZ_B)/corpus/$$target $(FUZZ_B)/found; \
	    $(FUZZ_B)/fuzz_$$target -max_total_time=$(FUZZ_TIME) -max_len=4096 -rss_limit_mb=8192 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix=$(FUZZ_B)/found/$$target- \
	        $(FUZZ_B)/corpus/$$target tests/fuzz/corpus/$$target || exit 1; done

$(FUZZ_B)/obj/%.o: %.c $(HEADERS) $(wildcard src/*/*.h src/*/*/*.h reporters/*.h reporters/*/*.h tests/support/*.h tests/fuzz/*.h)
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	@command -v $(firstword $(FUZZ_CC)) > /dev/null || { echo "make fuzz needs clang: install it, or name one with FUZZ_CC=" >&2; exit 1; }
	$(run)$(FUZZ_CC) -std=gnu11 -g -O1 $(fuzz_flags)-no-link$(fuzz_san) -fno-omit-frame-pointer \
	    $(inc_tests) $(if $(filter src/% reporters/%,$<),$(lib_flags)) $(CPPFLAGS) -c $< -o $@

$(FUZZERS): $(FUZZ_B)/%: $(FUZZ_B)/obj/tests/fuzz/%.o $(fuzz_lib_obj)
	$(call say,LINK,$@)
	$(run)$(FUZZ_CC) $(fuzz_flags)$(fuzz_san) -o $@ $^ $(CURL_LIBS) $(MHD_LIBS) $(ZLIB_LIBS) $(CK_LIBS) -lpthread -lm
