# SPDX-License-Identifier: Apache-2.0
#
# A release's archive, and Debian's packages made of it.

dist_name := crest-$(VERSION)
dist_tar  := build/dist/$(dist_name).tar.xz
deb_tree  := build/deb/$(dist_name)

# Of what git knows, as of the last commit, in its order and with its time: the same commit makes
# the same archive. debian/ stays out of it, and is added where packages are made.
.PHONY: dist
dist: ## the release's archive, in build/dist; of the last commit
	@mkdir -p $(dir $(dist_tar))
	@git archive --prefix=$(dist_name)/ HEAD -- . ':!debian' | xz -T1 -9 > $(dist_tar)
	@printf '  %-4s %s\n' DIST $(dist_tar)

.PHONY: deb
deb: dist ## Debian's packages, in build/deb; needs dpkg-dev and debhelper
	@rm -rf build/deb && mkdir -p build/deb
	@cp $(dist_tar) build/deb/crest_$(VERSION).orig.tar.xz
	@tar -C build/deb -xf $(dist_tar) && git archive --prefix=$(dist_name)/ HEAD -- debian | tar -C build/deb -x
	@cd $(deb_tree) && env -u MAKEFLAGS -u MAKELEVEL SOURCE_DATE_EPOCH=$$(git -C $(CURDIR) log -1 --format=%ct) \
	    dpkg-buildpackage -us -uc $(DEB_FLAGS)
	@ls build/deb/*.deb
