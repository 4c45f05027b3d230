# SPDX-License-Identifier: Apache-2.0
#
# The JVM shim: a JNI library of C, and a jar that Maven makes and that carries it.

# The JDK whose headers the C is compiled with: JAVA_HOME, or else the one whose javac is found.
jvm_home     = $${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v javac)")")")}
jvm_arch     = linux-$$(uname -m)
jvm_src     := $(wildcard jvm-shim/native/*.c)
jvm_java    := $(shell find jvm-shim -name '*.java' -o -name pom.xml -o -path '*/resources/*' -type f)
jvm_so      := $(LIB)/libcrest-jvm.so
jvm_natives := build/jvm/natives/io/crest/native
jvm_jar     := build/jvm/crest-jvm/crest-jvm-$(VERSION).jar
JVM_RPATH   ?= -Wl,-rpath,'$$ORIGIN'
MVN         ?= mvn
STRIP       ?= strip

# `make check` does without where there is no JDK or no Maven, and what Maven fails at is told by the
# tests that miss it. Asked for by name, both are errors.
jvm_optional :=
check: jvm_optional := yes
jvm_needed = { [ -x "$${JAVA_HOME:-/nowhere}/bin/javac" ] || command -v javac; } > /dev/null && \
    command -v $(firstword $(MVN)) > /dev/null || { $(if $(jvm_optional),exit 0,echo \
    "The JVM shim needs a JDK and Maven (Debian: default-jdk-headless, maven): try 'make deps'" >&2; exit 1); }
jvm_maven = rm -f $@; $(MVN) -B -q -Dstyle.color=never -f jvm-shim/pom.xml -DskipTests $(1) \
    > build/jvm/maven.log 2>&1 || { cat build/jvm/maven.log; exit $(if $(jvm_optional),0,1); }

# $ORIGIN: beside it lies libcrest, where the process has none yet. The library of reporters is
# opened at run time, so that a machine without libcurl still records.
$(jvm_so): $(jvm_src) $(wildcard jvm-shim/native/*.h) $(HEADERS) $(filter %.so,$(LIBRARIES)) $(B)/flags
	$(run)$(jvm_needed); printf '  %-4s %s\n' LINK $@; mkdir -p $(@D); \
	home=$(jvm_home); $(CC) $(inc_public) -I"$$home/include" -I"$$home/include/linux" $(CPPFLAGS) \
	    $(ALL_CFLAGS) -fPIC -fvisibility=hidden -ftls-model=initial-exec -shared $(no_undefined) \
	    -Wl,-soname,libcrest-jvm.so $(JVM_RPATH) $(ALL_LDFLAGS) -o $@ $(jvm_src) \
	    -L$(LIB) -lcrest -lpthread -ldl

# Under a sanitizer there is no jar: its libraries would ask every JVM for the sanitizer. The tests
# then load the library from where it was built.
.PHONY: jvm
jvm: deps $(if $(SAN),$(jvm_so) build/jvm/classes,build/jvm/built) ## the jar for the JVM, with the native libraries in it; needs a JDK and Maven

# The jar holds one variant's libraries: another one than last time makes it anew.
build/jvm/variant: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(VARIANT)' | cmp -s - $@ || printf '%s\n' '$(VARIANT)' > $@

# What goes into the jar: libcrest with ck in it, where there is an archive of ck, so that nothing
# but the C library has to be there; the licences of both, as ck's asks for; and the table of what
# io.crest.Natives may load.
ck_licence := /usr/share/doc/libck-dev/copyright
build/jvm/natives/made: $(jvm_so) $(base_obj) $(core_obj) $(reporters_so) build/jvm/variant
	$(run)[ -e $(jvm_so) ] || exit 0; printf '  %-4s %s\n' SUMS $(jvm_natives); \
	into=$(jvm_natives)/$(jvm_arch); rm -rf "$$into"; mkdir -p "$$into"; \
	ck='$(CK_LIBS)'; [ -e "$$($(CC) -print-file-name=libck.a)" ] && ck='-l:libck.a -Wl,--exclude-libs,libck.a'; \
	$(CC) $(so_flags) -Wl,-soname,libcrest.so.$(SOVERSION) $(ALL_LDFLAGS) -o "$$into/libcrest.so.$(SOVERSION)" \
	    $(base_obj) $(core_obj) $$ck -lpthread && \
	cp -L $(LIB)/libcrest-reporters.so.$(SOVERSION) $(jvm_so) "$$into/" && $(STRIP) -S "$$into"/* && \
	mkdir -p build/jvm/natives/META-INF && cp LICENSE build/jvm/natives/META-INF/ && \
	{ [ ! -e $(ck_licence) ] || cp $(ck_licence) build/jvm/natives/META-INF/LICENSE.ck; } && \
	cd $(jvm_natives) && { echo 'version=$(VERSION)'; \
	    sha256sum linux-*/* | sed 's/\([^ ]*\) [ *]\(.*\)/\2=\1/'; } > native.properties && \
	touch $(CURDIR)/$@

build/jvm/built: build/jvm/natives/made $(jvm_java)
	$(run)[ -e $< ] || exit 0; printf '  %-4s %s\n' MVN jvm-shim; $(call jvm_maven,package); touch $@ build/jvm/classes

build/jvm/classes: $(jvm_java) | $(first)
	$(run)$(jvm_needed); printf '  %-4s %s\n' MVN jvm-shim; mkdir -p $(@D); $(call jvm_maven,process-test-classes); touch $@

# The Scala side: compilers and cats-effect are fetched by Maven, and only here and in its test.
.PHONY: jvm-scala
jvm-scala: jvm #: ## jars of io.crest.scala and of spans for cats-effect 2 and 3, for Scala 2.12, 2.13 and 3
	@python3 jvm-shim/crest-scala/scala_jars.py --jar $(jvm_jar) --version $(VERSION)

# What JMH and the peers need is fetched by Maven, and only here.
.PHONY: bench-jvm
bench-jvm: build/jvm/bench #: ## recording from the JVM against Kamon, Micrometer and others; BENCH_ARGS= goes to JMH
	@python3 jvm-shim/crest-jvm-bench/jvm_bench.py $(if $(STRICT),--strict) --args='$(subst ','\'',$(BENCH_ARGS))'

build/jvm/bench: build/jvm/built $(jvm_java)
	$(call say,MVN,jvm-shim/crest-jvm-bench)
	$(run)$(MVN) -B -q -Dstyle.color=never -f jvm-shim/pom.xml -P bench -DskipTests package
	@touch $@

# For a Maven repository: the jar, its sources, its API reference and both POMs, with their sums.
jvm_repository := build/jvm/repository
.PHONY: jvm-repository
jvm-repository: jvm #: ## jar, sources, javadoc and POMs in a Maven repository's layout, in build/jvm/repository
	@rm -rf $(jvm_repository)
	$(call say,MVN,$(jvm_repository))
	$(run)$(call jvm_maven,-P release deploy -DaltDeploymentRepository=crest::file:$(CURDIR)/$(jvm_repository))

# A distribution's jar goes with the libraries that its system has, and is made without Maven, so
# without the bridge to Kamon.
jvm_system  := build/jvm/system
jvm_plain   := $(filter-out %/package-info.java,$(filter jvm-shim/crest-jvm/src/main/java/io/crest/%,\
               $(filter-out jvm-shim/crest-jvm/src/main/java/io/crest/kamon/%,$(filter %.java,$(jvm_java)))))
jvm_date     = $$(date -u -d @$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2> /dev/null || echo 946684800)} +%Y-%m-%dT%H:%M:%SZ)
.PHONY: jvm-system
jvm-system: $(jvm_system)/crest-jvm.jar $(jvm_so) #: ## a distribution's jar, which goes with installed libraries, and its JNI library; needs a JDK of 17 or later
$(jvm_system)/crest-jvm.jar: $(jvm_plain) Makefile mk/jvm.mk
	$(call say,JAR,$@)
	$(run)rm -rf $(@D)/classes && mkdir -p $(@D)/classes/io/crest/native && \
	printf 'version=$(VERSION)\nlibrary=installed\n' > $(@D)/classes/io/crest/native/native.properties && \
	printf 'Automatic-Module-Name: io.crest\nEnable-Native-Access: ALL-UNNAMED\n' > $(@D)/manifest && \
	home=$(jvm_home); "$$home/bin/javac" -nowarn -Xlint:-options -source 11 -target 11 -encoding UTF-8 -d $(@D)/classes $(jvm_plain) 2> $(@D)/javac.log || \
	    { cat $(@D)/javac.log; exit 1; }; \
	"$$home/bin/jar" --create --file $@ --manifest $(@D)/manifest --date "$(jvm_date)" -C $(@D)/classes .

.PHONY: install-java
install-java: jvm-system #: ## the distribution's jar, its POMs and its JNI library; below DESTDIR, PREFIX and LIBDIR
	install -d $(to_java) $(to_lib)/jni
	install -m 644 $(jvm_so) $(to_lib)/jni
	install -m 644 $(jvm_system)/crest-jvm.jar $(to_java)/crest-jvm-$(VERSION).jar
	ln -sf crest-jvm-$(VERSION).jar $(to_java)/crest-jvm.jar
	for name in crest-jvm crest-jvm-parent; do \
	    into=$(DESTDIR)$(PREFIX)/share/maven-repo/io/crest/$$name/$(VERSION) && install -d $$into && \
	    pom=jvm-shim/$$name/pom.xml && { [ -e $$pom ] || pom=jvm-shim/pom.xml; } && \
	    install -m 644 $$pom $$into/$$name-$(VERSION).pom || exit 1; done
	ln -sf ../../../../../java/crest-jvm-$(VERSION).jar \
	    $(DESTDIR)$(PREFIX)/share/maven-repo/io/crest/crest-jvm/$(VERSION)/crest-jvm-$(VERSION).jar
