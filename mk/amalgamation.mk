# SPDX-License-Identifier: Apache-2.0
#
# The library as four files that need no build system: docs/embedding.md.

.PHONY: amalgamation
amalgamation: $(twins) ## build/amalgamation: crest.h, crest.c, crest_reporters.c, one compiler call each
	@scripts/amalgamate build/amalgamation --version $(VERSION) --twins build/include
	@wc -lc build/amalgamation/*
