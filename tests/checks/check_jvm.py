#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JVM shim: what its Java may import, what its library needs and exports, what the jar holds.

The jar has to work where there is nothing but a JDK, and its library goes with the class loader
that loaded it, so it may have nothing that outlives it.
"""

import hashlib
import pathlib
import re
import tempfile
import zipfile

from checklib import BUILD, CC, ROOT, Rules, command, read, tree, without_comments

MAY_IMPORT = ("java.", "javax.management.", "com.sun.management.", "sun.misc.Unsafe", "jdk.jfr.",
              "io.crest.")
KAMON_MAY_IMPORT = ("kamon.", "com.typesafe.config.", "scala.", "org.slf4j.")  # as Kamon itself
MAIN = pathlib.PurePath("jvm-shim/crest-jvm/src/main/java")
KAMON = MAIN / "io/crest/kamon"
JNI_NEEDS = {"libcrest.so.0", "libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2",
             "ld-linux-aarch64.so.1"}
JAR_CREST_NEEDS = JNI_NEEDS - {"libcrest.so.0"}
CK = "libck.so.0"  # where the system has no archive of ck
SANITIZERS = re.compile(r"lib[atu]b?san\.so")
EXPORTS = {"JNI_OnLoad", "JNI_OnUnload"}
NATIVES = "io/crest/native/"

ABI = "the jar expects CREST_ABI as the headers have it"
IMPORTS = "the library imports nothing but the JDK, and Kamon in io.crest.kamon"
RELEASE = "every pom is of the Makefile's release"
NATIVE_ONLY = "a class with native methods has nothing else that runs when it is initialised"
NEEDS = "the JNI library needs libcrest and the C library only"
EXPORTED = "the JNI library exports what the JVM calls, and nothing else"
THREAD_LOCAL = "the JNI library has no thread-local variables of its own"
JAR = "the jar has every library that its table names, with the table's sums"
JAR_NEEDS = "the jar's libcrest needs the C library only, and ck where it has to"
MANIFEST = "the manifest names the module and asks for native access"


def release():
    return re.search(r"^VERSION *:= *(\S+)", read("Makefile"), re.M).group(1)


def check_abi(rules, name):
    headers = re.search(r"^#define CREST_ABI (\d+)u$", read("include/crest/abi.h"), re.M)
    jar = re.search(r"EXPECTED = \{\s*(\d+),", read(name))
    if headers is None or jar is None or headers.group(1) != jar.group(1):
        rules.broken(ABI, f"Layout.java: {jar and jar.group(1)}, "
                          f"and abi.h: {headers and headers.group(1)}")


def check_sources(rules):
    for name in tree():
        if name.name == "pom.xml" and name.parts[0] == "jvm-shim":
            found = re.search(r"<version>(.*?)</version>", read(name))
            if found.group(1) != release():
                rules.broken(RELEASE, f"{name}: {found.group(1)}, and VERSION is {release()}")
        if name.suffix == ".java" and MAIN in name.parents:
            check_java(rules, name)
        if name == MAIN / "io/crest/Layout.java":
            check_abi(rules, name)


def check_java(rules, name):
    text = without_comments(read(name))
    may = MAY_IMPORT + (KAMON_MAY_IMPORT if KAMON in name.parents else ())
    for imported in re.findall(r"^import (?:static )?([\w.*]+);", text, re.M):
        if not imported.startswith(may):
            rules.broken(IMPORTS, f"{name}: {imported}")
    if re.search(r"^\s+(?:\w+ )*native ", text, re.M):
        runs = re.search(r"^\s+static \{|^\s+(?:private )?static (?:final )?[\w<>\[\]]+ \w+ = "
                         r"(?!-?\d)", text, re.M)
        if runs:
            rules.broken(NATIVE_ONLY, f"{name}: {runs.group(0).strip()}")


def needed(library):
    _, dynamic = command(["readelf", "-d", library])
    return {name for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
            if not SANITIZERS.match(name)}


def check_jni(rules, library):
    for name in sorted(needed(library) - JNI_NEEDS):
        rules.broken(NEEDS, name)
    _, symbols = command(["nm", "-D", "--defined-only", "-P", library])
    for name in sorted({line.split()[0] for line in symbols.splitlines()} - EXPORTS):
        rules.broken(EXPORTED, name)
    _, segments = command(["readelf", "-lW", library])
    if re.search(r"^\s+TLS\s", segments, re.M):
        rules.broken(THREAD_LOCAL, "it has a segment for them")


def check_jar(rules, path):
    with zipfile.ZipFile(path) as jar, tempfile.TemporaryDirectory() as folder:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
        for line in ("Automatic-Module-Name: io.crest", "Enable-Native-Access: ALL-UNNAMED"):
            if line not in manifest.splitlines():
                rules.broken(MANIFEST, f"it lacks {line}")
        if "META-INF/LICENSE" not in jar.namelist():
            rules.broken(JAR, "it has no licence")
        table = dict(line.split("=", 1) for line in
                     jar.read(NATIVES + "native.properties").decode().splitlines())
        if table.pop("version", None) != release():
            rules.broken(JAR, "its table is not of this release")
        libraries = {name[len(NATIVES):] for name in jar.namelist() if name.endswith((".so", ".0"))}
        for name in sorted(libraries ^ set(table)):
            rules.broken(JAR, f"{name} is not in both")
        for name in sorted(libraries & set(table)):
            if hashlib.sha256(jar.read(NATIVES + name)).hexdigest() != table[name]:
                rules.broken(JAR, f"{name} has another sum")
            if name.endswith("/libcrest.so.0"):
                archive = command([*CC, "-print-file-name=libck.a"])[1].startswith("/")
                more = needed(jar.extract(NATIVES + name, folder)) - JAR_CREST_NEEDS
                for library in more if archive else more - {CK}:
                    rules.broken(JAR_NEEDS, library)


def main():
    rules = Rules()
    for rule in (ABI, IMPORTS, RELEASE, NATIVE_ONLY):
        rules.rule(rule)
    check_sources(rules)
    library = BUILD / "lib/libcrest-jvm.so"
    if library.exists():
        for rule in (NEEDS, EXPORTED, THREAD_LOCAL):
            rules.rule(rule)
        check_jni(rules, library)
    jar = ROOT / f"build/jvm/crest-jvm/crest-jvm-{release()}.jar"
    if (ROOT / "build/jvm/built").exists():
        for rule in (JAR, JAR_NEEDS, MANIFEST):
            rules.rule(rule)
        check_jar(rules, jar)
    rules.finish()


if __name__ == "__main__":
    main()
