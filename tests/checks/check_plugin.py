#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads and unloads plugins with metrics of their own, in programs with and without the library.

crest-test: timeout=120 sanitizers=all

plugin_host.c uses the library and lends the plugin its metrics; its threads record all the while.
plugin_late.c knows nothing of it, and its threads run before the plugin brings the library in. The
plugin is compiled as C and as C++.
plugin_copies.c has several copies of the library: one in a plugin that links the archive, one in
another namespace of the linker, and some under other names.
"""

import os
import pathlib
import shutil

from checklib import BUILD, CC, CXX, ROOT, Rules, command, temporary_folder

FOLDER = pathlib.Path(__file__).resolve().parent / "plugin"
SANITIZERS = os.environ.get("CREST_SAN", "")
SANITIZED = [f"-fsanitize={SANITIZERS}", "-fno-omit-frame-pointer"] if SANITIZERS else []
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", *SANITIZED]
LINK = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lcrest", "-lpthread"]
C = [*CC, "-x", "c", "-std=gnu11"]
CPP = [*CXX, "-x", "c++", "-std=gnu++17"]
ARCHIVE = [BUILD / "lib/libcrest.a", "-lck", "-lpthread", "-Wl,-z,nodelete"]
PRIVATE = "-Wl,--exclude-libs,libcrest.a"
FILES = 24
RUN_TIMEOUT_S = 300


def build(rules, rule, compiler, source, output, *options):
    status, said = command([*compiler, *FLAGS, FOLDER / source, "-x", "none", "-o", output,
                            *options])
    if status != 0:
        rules.broken(rule, said.strip())
    return status == 0


def run(rules, rule, *arguments):
    status, said = command(arguments, timeout=RUN_TIMEOUT_S)
    if status != 0 or said.strip() != "ok":
        rules.broken(rule, f"exit status {status}: {said.strip()}")


def copies(rules, folder):
    """Several copies of the library in one program."""
    # that some things are there twice is what this is about
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_odr_violation=0"
    rule = rules.rule("a plugin with the archive uses the host's copy, if there is one to be seen")
    if not build(rules, rule, C, "plugin_copies.c", folder / "copies", *LINK):
        return
    alone = ["-DWITHOUT_HOST", "-shared", "-fPIC"]
    if build(rules, rule, C, "plugin_module.c", folder / "joined.so", *alone, *ARCHIVE):
        run(rules, rule, folder / "copies", "joined", folder / "joined.so")
    rule = rules.rule("a plugin that hides the archive's names has a registry of its own")
    if build(rules, rule, C, "plugin_module.c", folder / "apart.so", *alone, *ARCHIVE, PRIVATE):
        run(rules, rule, folder / "copies", "apart", folder / "apart.so")
    # A sanitizer's own names must not be bound anew, nor be there twice.
    if SANITIZERS:
        return
    run(rules, rule, folder / "copies", "deep", folder / "joined.so")
    rule = rules.rule("so has a copy in another namespace of the linker")
    if build(rules, rule, C, "plugin_module.c", folder / "named.so", *alone, *LINK):
        run(rules, rule, folder / "copies", "namespace", folder / "named.so")
    rule = rules.rule("so have the library's copies under other names, and there is room for many")
    files = [folder / f"copy{number}.so" for number in range(FILES)]
    for file in files:
        shutil.copy(BUILD / "lib/libcrest.so", file)
    run(rules, rule, folder / "copies", "files", *files)


def main():
    rules = Rules()
    with_host = rules.rule("totals are exact whichever plugin comes and goes, C or C++")
    late = rules.rule("a plugin brings the library into a program whose threads run already")
    with temporary_folder() as name:
        folder = pathlib.Path(name)
        so = ["-shared", "-fPIC", *LINK]
        if all([build(rules, with_host, C, "plugin_host.c", folder / "host", "-rdynamic", *LINK),
                build(rules, with_host, C, "plugin_module.c", folder / "c.so", *so),
                build(rules, with_host, CPP, "plugin_module.c", folder / "cc.so", *so)]):
            run(rules, with_host, folder / "host", folder / "c.so", folder / "cc.so")
        alone = ["-DWITHOUT_HOST", *so]
        if all([build(rules, late, C, "plugin_late.c", folder / "late", "-lpthread"),
                build(rules, late, C, "plugin_module.c", folder / "alone.so", *alone),
                build(rules, late, CPP, "plugin_module.c", folder / "alone-cc.so", *alone)]):
            run(rules, late, folder / "late", folder / "alone.so")
            run(rules, late, folder / "late", folder / "alone-cc.so")
        copies(rules, folder)
    rules.finish()


if __name__ == "__main__":
    main()
