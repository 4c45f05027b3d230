# SPDX-License-Identifier: Apache-2.0
"""What the tests of the JVM shim share: the JDKs of this machine, the jar, and running JUnit.

    for jdk in jvmlib.needs("built"):
        run = jvmlib.junit(jdk, options=["-Xcheck:jni"])
        tally.add(run)
    tally.finish()

They run what `make jvm` made, without Maven: the classes of the tests against the real jar.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
MADE = ROOT / "build/jvm"
TEST_CLASSES = MADE / "crest-jvm/test-classes"
CLASSES = MADE / "crest-jvm/classes"
EXIT_SKIPPED = 77
OLDEST = 11
NATIVE_ACCESS_SINCE = 17
# Ceilings, for machines that are slow or busy.
JUNIT_TIMEOUT_S = 1200
TIMEOUT_S = 900
# The classes that have a place in it by @Order first, the others afterwards.
ORDER = "junit.jupiter.testclass.order.default=org.junit.jupiter.api.ClassOrderer$OrderAnnotation"
OUTPUT_SHOWN_BYTES = 16 * 1024


class Jdk:
    """A Java that is installed here."""

    def __init__(self, java, version):
        self.java = java
        self.version = version
        self.feature = int(version.split(".")[0].split("+")[0].split("-")[0])

    def options(self):
        """What every JVM of the tests is started with."""
        wanted = ["-ea", "-Xmx512m"]
        if self.feature >= NATIVE_ACCESS_SINCE:
            wanted.append("--enable-native-access=ALL-UNNAMED")
        return wanted

    def __str__(self):
        return f"JDK {self.version}"


def version_of(home):
    """What the JDK's file `release` says, or else what java itself says; None if it is no JDK."""
    release = home / "release"
    if release.is_file():
        found = re.search(r'^JAVA_VERSION="?([0-9][^"\n]*)', release.read_text(), re.M)
        if found:
            return found.group(1)
    done = subprocess.run([home / "bin/java", "-version"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = re.search(r'version "([0-9][^"]*)"', done.stdout.decode("utf-8", "replace"))
    return found.group(1) if found else None


def jdks():
    """Those from Java 11 on, oldest first, each version once: JAVA_HOME's, that of the PATH, and
    what Debian has below /usr/lib/jvm."""
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(pathlib.Path(os.environ["JAVA_HOME"]))
    java = shutil.which("java")
    if java:
        homes.append(pathlib.Path(java).resolve().parents[1])
    homes += sorted(pathlib.Path("/usr/lib/jvm").glob("*"))
    found = {}
    for home in homes:
        if os.access(home / "bin/java", os.X_OK):
            version = version_of(home)
            if version and not version.startswith("1."):
                jdk = Jdk(home / "bin/java", version)
                if jdk.feature >= OLDEST:
                    found.setdefault(version, jdk)
    return sorted(found.values(), key=lambda jdk: jdk.feature)


def skip(reason):
    print(reason)
    sys.exit(EXIT_SKIPPED)


def needs(stamp):
    """Skips where nothing could be built, fails where building failed. Otherwise the JDKs to try:
    the newest, or with JDKS=all every one that is here."""
    here = jdks()
    if not here:
        skip(f"no JDK from Java {OLDEST} on: make deps installs one")
    if not (MADE / stamp).exists():
        if not shutil.which("mvn"):
            skip("no Maven, so there is no jar: make deps installs it")
        log = MADE / "maven.log"
        print(f"build/jvm/{stamp} was not made. Maven said:")
        print(log.read_text(errors="replace") if log.exists() else "nothing, it did not run")
        sys.exit(1)
    return here if os.environ.get("JDKS") == "all" else here[-1:]


def jar():
    version = re.search(r"^VERSION *:= *(\S+)", (ROOT / "Makefile").read_text(), re.M).group(1)
    return MADE / f"crest-jvm/crest-jvm-{version}.jar"


def headers():
    """The folder of jni.h, of the JDK that the library was compiled with."""
    home = os.environ.get("JAVA_HOME")
    if not home:
        home = pathlib.Path(shutil.which("javac")).resolve().parents[1]
    return pathlib.Path(home, "include")


def native_half(source, folder):
    """A library of JNI functions from one C file, linked with the libcrest of the build as with an
    installed one."""
    library = pathlib.Path(folder, f"lib{source.stem}.so")
    libraries = BUILD / "lib"
    compiler = os.environ.get("CC", "gcc").split()
    subprocess.run(
        [*compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O2", source, "-o", library,
         f"-I{ROOT}/include", f"-I{headers()}", f"-I{headers()}/linux",
         f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcrest"], check=True)
    return library


def java(jdk, main, *arguments, options=(), env=None, timeout_s=TIMEOUT_S):
    """Runs a main class of the tests with the jar; its exit status and what it printed."""
    command = [jdk.java, *jdk.options(), *options, "-cp", f"{jar()}:{TEST_CLASSES}", main,
               *arguments]
    return bounded(command, env, timeout_s)


def test_libraries():
    """What the tests need besides, from Maven's repository."""
    listed = (MADE / "crest-jvm/test.classpath").read_text().strip()
    return [pathlib.Path(entry) for entry in listed.split(":") if entry]


class Run:
    """What one JVM with JUnit in it did."""

    def __init__(self, title, status, output, cases):
        self.title = title
        self.status = status
        self.output = output
        self.cases = cases  # (name, what, text): what is passed, failed or skipped

    def count(self, what):
        return sum(case[1] == what for case in self.cases)


def cases_of(reports):
    """The tests of JUnit's XML reports."""
    cases = []
    for report in sorted(pathlib.Path(reports).glob("TEST-*.xml")):
        for case in tree.parse(report).getroot().iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            problem = next((part for part in case if part.tag in ("failure", "error")), None)
            skipped = case.find("skipped")
            if problem is not None:
                cases.append((name, "failed", problem.text or problem.get("message") or ""))
            elif skipped is not None:
                cases.append((name, "skipped", (skipped.text or "").strip().split("\n")[0]))
            else:
                cases.append((name, "passed", ""))
    return cases


def junit(jdk, title=None, options=(), env=None, with_jar=True):
    """Runs the JUnit tests in a JVM of their own; without the jar those that do not need it."""
    path = [jar() if with_jar else CLASSES, TEST_CLASSES, *test_libraries()]
    tags = [] if with_jar else ["--exclude-tag=jar"]
    with tempfile.TemporaryDirectory(prefix="crest-junit-") as reports:
        command = [jdk.java, *jdk.options(), *options, "-cp", ":".join(map(str, path)),
                   "org.junit.platform.console.ConsoleLauncher", "execute",
                   f"--scan-classpath={TEST_CLASSES}", f"--reports-dir={reports}",
                   "--disable-banner", "--details=none", f"--config={ORDER}", *tags]
        status, output = bounded(command, env, JUNIT_TIMEOUT_S)
        return Run(title or str(jdk), status, output, cases_of(reports))


def bounded(command, env, timeout_s):
    """Exit status, or None after the timeout, which first asks the JVM what it is at."""
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                              stdout=said, stderr=subprocess.STDOUT, env=env) as process:
            try:
                status = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)  # prints every thread's stack
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                status = None
        said.seek(0)
        return status, said.read().decode("utf-8", "replace")


class Tally:
    """Counts over several runs."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, run):
        self.passed += run.count("passed")
        self.skipped += run.count("skipped")
        failed = run.count("failed")
        print(f"{run.title}: {run.count('passed')} passed, {failed} failed, "
              f"{run.count('skipped')} skipped")
        for name, what, text in run.cases:
            if what == "skipped":
                print(f"skipped on {run.title}: {name}: {text}")
            elif what == "failed":
                print(f"FAIL on {run.title}: {name}\n{text}")
        if run.status != 0 and not failed or not run.cases:
            failed = 1
            how = "is still running at its timeout" if run.status is None else \
                f"ended with status {run.status}"
            self.problem(f"{run.title}: the JVM {how} after {len(run.cases)} tests", run.output)
        else:
            self.failed += failed
            printed = run.output.split("\nFailures (", maxsplit=1)[0].strip()
            if failed and printed:
                print(f"what else {run.title} printed:\n{printed[-OUTPUT_SHOWN_BYTES:]}")

    def problem(self, what, output):
        self.failed += 1
        print(f"FAIL {what}\n{output[-OUTPUT_SHOWN_BYTES:]}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0)
