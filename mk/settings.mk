# SPDX-License-Identifier: Apache-2.0
#
# Settings, the variant that they make, and the flags of compiler and linker.

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

# Three hundred tests are linked. Gold, where it is, takes a third of the processor for that.
quick_ld = $$(command -v ld.gold > /dev/null && echo -fuse-ld=gold)

# What reads bytes of others', and no code that records: reporters and tools.
hardened := -fstack-protector-strong \
            $(if $(SAN)$(DEBUG)$(COVERAGE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)

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
