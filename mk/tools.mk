# SPDX-License-Identifier: Apache-2.0
#
# The commands of `crest` that are written in C: tools/hlog/*.c become crest-hlog.

tools_src     := $(wildcard tools/*/*.c)
tools_obj     := $(call objects,$(tools_src))
tools_c       := $(patsubst tools/%/,%,$(sort $(dir $(tools_src))))
TOOL_PROGRAMS := $(tools_c:%=$(B)/libexec/crest-%)

$(tools_obj): private cpp = $(inc_public) -Itools -fPIE $(hardened)

# Without libcurl and what it brings, which would take longer to load than most commands run.
$(foreach tool,$(tools_c),$(eval $(B)/libexec/crest-$(tool): $(filter $(OBJ)/tools/$(tool)/%,$(tools_obj))))
$(TOOL_PROGRAMS): $(need_archive)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(run)$(CC) -pie -Wl,-z,relro,-z,now $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(reporters_a) $(crest_a) $(CK_LIBS) \
	    $(ZLIB_LIBS) -lpthread -lm
