# SPDX-License-Identifier: Apache-2.0
#
# Installing and uninstalling, below DESTDIR and PREFIX.

pc_files   := $(patsubst pkgconfig/%.in,%,$(wildcard pkgconfig/*.pc.in))
pc_libdir  := $(if $(filter $(PREFIX)/%,$(LIBDIR)),$${prefix}/$(patsubst $(PREFIX)/%,%,$(LIBDIR)),$(LIBDIR))
to_include := $(DESTDIR)$(PREFIX)/include/crest
to_lib     := $(DESTDIR)$(LIBDIR)
to_bin     := $(DESTDIR)$(PREFIX)/bin
to_share   := $(DESTDIR)$(PREFIX)/share/crest
to_man     := $(DESTDIR)$(PREFIX)/share/man/man1
to_java    := $(DESTDIR)$(PREFIX)/share/java
to_libexec := $(DESTDIR)$(PREFIX)/libexec/crest
to_cmake   := $(to_lib)/cmake/Crest
cmake_in   := $(wildcard cmake/*.in)

# The one tool, and links with the names that two of its commands had. What is written in C is below
# libexec, what is written in Python below share.
tool_links   := $(notdir $(wildcard tools/crest-*))
tools_python := $(wildcard tools/*.py tools/*/*.py)
man_pages    := $(wildcard docs/man/*.1)

.PHONY: install
install: all ## headers, libraries, .pc files, tools, manuals; a dashboard, the jar if it was built; below DESTDIR and PREFIX
	install -d $(to_include)/off $(to_lib)/pkgconfig
	install -m 644 $(HEADERS) $(to_include)
	install -m 644 build/include/crest/off/*.h $(to_include)/off
	install -m 644 $(filter %.a,$(LIBRARIES)) $(to_lib)
	for so in $(notdir $(filter %.so,$(LIBRARIES))); do \
	    install -m 755 $(LIB)/$$so.$(VERSION) $(to_lib) && \
	    ln -sf $$so.$(VERSION) $(to_lib)/$$so.$(SOVERSION) && \
	    ln -sf $$so.$(SOVERSION) $(to_lib)/$$so || exit 1; done
	for pc in $(pc_files); do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(pc_libdir)|' -e 's|@VERSION@|$(VERSION)|' \
	        pkgconfig/$$pc.in > $(to_lib)/pkgconfig/$$pc && \
	    chmod 644 $(to_lib)/pkgconfig/$$pc || exit 1; done
	install -d $(to_cmake)
	up=$$(realpath -m --relative-to='$(LIBDIR)/cmake/Crest' '$(PREFIX)/include') && \
	for config in $(cmake_in); do \
	    sed -e "s|@TO_INCLUDE@|$$up|" -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@VERSION@|$(VERSION)|' \
	        $$config > $(to_cmake)/$$(basename $$config .in) && \
	    chmod 644 $(to_cmake)/$$(basename $$config .in) || exit 1; done
	install -d $(to_bin) $(to_libexec) $(to_man) \
	    $(addprefix $(to_share)/,$(sort $(patsubst tools/%,%,$(dir $(tools_python)))))
	install -m 755 tools/crest $(to_bin)
	for link in $(tool_links); do ln -sf crest $(to_bin)/$$link || exit 1; done
	$(if $(TOOL_PROGRAMS),install -m 755 $(TOOL_PROGRAMS) $(to_libexec))
	for source in $(tools_python:tools/%=%); do \
	    install -m 644 tools/$$source $(to_share)/$$source || exit 1; done
	install -m 644 $(library_manifests) $(library_views) $(to_share)
	install -m 644 $(man_pages) $(to_man)
	if [ -e build/jvm/built ]; then \
	    install -d $(to_java) && install -m 644 $(jvm_jar) $(to_java)/crest-jvm.jar; fi

.PHONY: uninstall
uninstall: ## removes what install put there
	rm -f $(addprefix $(to_include)/,$(notdir $(HEADERS)))
	rm -rf $(to_include)/off
	-rmdir $(to_include)
	rm -f $(addprefix $(to_lib)/,$(notdir $(link_a))) $(foreach l,libcrest libcrest-reporters,$(addprefix $(to_lib)/$l,.a .so .so.$(SOVERSION) .so.$(VERSION)))
	rm -f $(addprefix $(to_lib)/pkgconfig/,$(pc_files))
	rm -rf $(to_cmake)
	-rmdir $(to_lib)/cmake
	rm -f $(addprefix $(to_bin)/,crest $(tool_links)) $(addprefix $(to_man)/,$(notdir $(man_pages)))
	rm -rf $(to_share) $(to_libexec)
	rm -f $(to_java)/crest-jvm.jar $(to_java)/crest-jvm-$(VERSION).jar $(to_lib)/jni/libcrest-jvm.so
	rm -rf $(DESTDIR)$(PREFIX)/share/maven-repo/io/crest
